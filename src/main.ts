import { banner } from './banner.ts';
import { ConfigError } from './config/environment.ts';
import { readConfig, type Config } from './config.ts';
import { createLog } from './log.ts';
import { openingDocument } from './openingDocument.ts';
import type { OperatorSettings } from './operator/operatorSettings.ts';
import { startServer } from './server.ts';
import { launchSimulator, type LaunchedSimulator } from './simulator/launch.ts';
import { systemClock } from './systemClock.ts';

const config = settings();
const log = createLog();
const simulator = config.simulator === undefined ? undefined : await launchSimulator();
const server = await startServer({
  config,
  operator: operator(config, simulator),
  clock: systemClock,
  log,
  openingDocument: openingDocument(config.role, simulator !== undefined),
}).catch(async (error: unknown) => {
  await simulator?.stop();
  return fail(whyNotListening(error, config));
});

if (simulator === undefined) log.info('listening', { port: Number(new URL(server.url).port) });
else process.stdout.write(banner(server.url, config.role, simulator));

process.on('SIGTERM', stop);
process.on('SIGINT', stop);

/** Drains; a second signal, now that nobody listens for it, ends the process at once. */
function stop(): void {
  process.off('SIGTERM', stop);
  process.off('SIGINT', stop);
  void drain();
}

async function drain(): Promise<void> {
  await server.stop();
  await simulator?.stop();
}

function settings(): Config {
  try {
    return readConfig();
  } catch (error) {
    if (error instanceof ConfigError) return fail(error.message);
    throw error;
  }
}

/** The operator that is configured, or the simulator in the manners that are. */
function operator({ operators, simulator: manners }: Config, launched?: LaunchedSimulator) {
  const [configured] = operators;
  if (configured !== undefined) return configured;
  if (manners === undefined || launched === undefined) return fail('There is no operator to ask.');
  const { authUrl, simSwapUrl, clientId, clientSecret } = launched;
  return {
    ...manners,
    authUrl,
    simSwapUrl,
    clientId,
    clientAuthentication: { method: 'basic', secret: clientSecret },
  } satisfies OperatorSettings;
}

function whyNotListening(error: unknown, { listen }: Config): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  const where = `HOST=${listen.host}, PORT=${listen.port}`;
  return code === 'EADDRINUSE'
    ? `The port is in use (${where}). Set PORT to another, or end the program that has it.`
    : `The server cannot listen (${where}): ${code}.`;
}

/** Ends the program with a word to whoever started it. */
function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
