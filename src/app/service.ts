import { BUILD } from '../system/build.ts';
import { readConfig, readOrFail, type Config } from '../config/config.ts';
import { errorName } from '../domain/errors.ts';
import { writeExchangeLines } from '../telemetry/requestLines.ts';
import { createLog } from '../log/log.ts';
import { expectShortLives } from '../system/garbageCollection.ts';
import { banner, explorerOpening, type ExampleSettings } from './firstQuery.ts';
import type { OperatorSettings } from '../operator/operatorSettings.ts';
import { sumUpRepeats } from '../log/logDeduplication.ts';
import { startServer } from './server.ts';
import { endOnDefects } from './defects.ts';
import { simulatorAt } from '../../simulator/address.ts';
import { launchSimulator, type LaunchedSimulator } from '../../simulator/launch.ts';
import { systemClock } from '../system/clock.ts';
import { promptsOwner } from '../tokens/authorizationSettings.ts';
import { fail, onTermination, type TerminationSignal } from '../system/termination.ts';

/** Time for the reader of standard output to take the last lines. */
const LAST_LINES_MS = 1000;

expectShortLives();
endOnDefects();
const config = readOrFail(readConfig);
const everyLine = createLog(config.logLevel);
everyLine.info('Starting.', { ...BUILD, node: process.versions.node, ...ownProfiles(config) });
if (config.logLevel === 'debug') writeExchangeLines(everyLine, systemClock);
const log = sumUpRepeats(everyLine, systemClock);
const simulator = config.simulator === undefined ? undefined : await simulated(config.simulatorUrl);
const operators =
  config.simulator === undefined || simulator === undefined
    ? config.operators
    : config.simulator(simulator);
const example: ExampleSettings = {
  role: config.role,
  isSimulated: simulator !== undefined,
  headers: {
    ...(config.callers.tokens === undefined ? {} : { authorization: 'Bearer <access token>' }),
    ...(config.callers.routerSecrets.length === 0 ? {} : { 'x-router-secret': '<router secret>' }),
  },
};
const server = await startServer({
  config,
  operators,
  clock: systemClock,
  log,
  requestLog: everyLine,
  explorerOpening: explorerOpening(example),
}).catch(async (error: unknown) => {
  await simulator?.stop();
  return fail(whyNotStarted(error, config));
});

// Before the line `Listening.`: its reader may send a signal.
onTermination(
  (signal) => void drain(signal),
  () => log.warn('SIGHUP is ignored: restart to apply changed settings.'),
);

log.info('Listening.', {
  host: config.listen.host,
  port: Number(new URL(server.url).port),
  role: config.role,
  operators: simulator === undefined ? hostsOf(operators) : 'simulator',
  flow: operators.map(({ flow }) => flow).join(', '),
});
if (config.production && simulator !== undefined) {
  log.warn(
    'Every answer is invented: the operator is the simulator. Unset SIMULATOR to call a real one.',
    { setting: 'SIMULATOR' },
  );
}
if (simulator === undefined && config.callers.tokens === undefined) {
  log.warn(
    'Anyone who reaches this service can make lookups: callers are not authenticated. Set JWT_JWKS_URL.',
    {
      setting: 'JWT_JWKS_URL',
    },
  );
}
if (config.callers.tokens?.isForDevelopment === true) {
  log.warn('Anyone can sign the tokens that are accepted. Unset DEV_TOKENS outside rehearsals.', {
    setting: 'DEV_TOKENS',
  });
}
if (config.sharedState === undefined && operators.some(({ flow }) => promptsOwner(flow))) {
  log.warn(
    'Consents are known only to this process: after a restart owners may be prompted again. Set REDIS_URL.',
    { setting: 'REDIS_URL' },
  );
}
if (simulator !== undefined) process.stdout.write(banner(server.url, example, simulator));
if (await server.ready) log.info('Ready.');

async function drain(signal: TerminationSignal): Promise<void> {
  const begunAtMs = systemClock.monotonicMs();
  log.info('Draining.', { signal, graceSeconds: config.drainGraceMs / 1000 });
  const { stopLimitMs } = server;
  const limit = setTimeout(giveUp, stopLimitMs, 'The drain did not end in time', stopLimitMs);
  await server.stop();
  await simulator?.stop();
  clearTimeout(limit);
  const seconds = Math.round((systemClock.monotonicMs() - begunAtMs) / 100) / 10;
  // Before the last line.
  log.close();
  log.info('Drained.', { seconds });
  // All of our work has ended: what still keeps the process alive hangs, such as a thread that a disk blocks.
  setTimeout(
    giveUp,
    LAST_LINES_MS,
    'The process did not end after its drain',
    LAST_LINES_MS,
  ).unref();
}

/** Ends at once. `process.exit` would wait for a thread that a disk blocks. */
function giveUp(why: string, limitMs: number): void {
  log.error(`${why}: the process is killed.`, { limitMs });
  setImmediate(() => process.kill(process.pid, 'SIGKILL'));
}

/** Profiles of the company's own: third-party code that runs in this process. */
function ownProfiles({ operators: serving }: Config): { readonly profiles?: string } {
  const own = serving.flatMap(({ profile: { name, sha256 } }) =>
    sha256 === undefined ? [] : [`${name} sha256:${sha256}`],
  );
  return own.length === 0 ? {} : { profiles: [...new Set(own)].join(', ') };
}

function hostsOf(serving: readonly OperatorSettings[]): string {
  return serving
    .map(({ name, lookupAddresses }) => {
      const { hostname } = new URL(lookupAddresses.check);
      return serving.length === 1 ? hostname : `${name} at ${hostname}`;
    })
    .join(', ');
}

/** The simulator at an address, or a new one. */
async function simulated(url: string | undefined): Promise<LaunchedSimulator> {
  if (url !== undefined) return { ...simulatorAt(url), stop: () => Promise.resolve() };
  try {
    return await launchSimulator();
  } catch {
    return fail('The built-in operator simulator did not start. See its message above.');
  }
}

function whyNotStarted(error: unknown, { listen, metricsPort }: Config): string {
  const code = errorName(error);
  const { syscall, port = listen.port }: { syscall?: string; port?: number } = Object(error);
  const setting = port !== listen.port && port === metricsPort ? 'METRICS_PORT' : 'PORT';
  const where = `HOST=${listen.host}, ${setting}=${port}`;
  switch (code) {
    case 'EADDRINUSE':
      return `The port is in use (${where}). Set ${setting} to another, or end the program that has it.`;
    case 'EACCES':
      return `This user may not listen there (${where}). Set ${setting} to 1024 or more.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST names no address of this machine (${where}). Set it to 127.0.0.1, or 0.0.0.0 for all of them.`;
    default:
      return syscall === 'listen'
        ? `The server cannot listen (${where}): ${code}.`
        : `The server did not start: ${code}.`;
  }
}
