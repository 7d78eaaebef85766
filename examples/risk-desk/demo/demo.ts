import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTermination } from '../../../src/system/termination.ts';
import type { SimulatedOperator } from '../../supergraph/operators.ts';
import { PortInUse, refusePortsInUse, startStack } from './stack.ts';

/** Where the desk and its OpenID provider answer. Fixed: a bookmark and a browser's session last. */
const PORTS = { desk: 4100, identityProvider: 4101 };

const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<'interrupted'>();
onTermination(() => interrupt('interrupted'));

try {
  await run();
} catch (error) {
  if (error instanceof PortInUse) {
    say(
      `Port ${error.port} is in use, and the demo needs it. End what listens there, and try again.`,
    );
  } else {
    // What went wrong is on the screen already, from the program that it happened to.
    say(error instanceof Error ? error.message : 'The demo did not start.');
  }
  process.exitCode = 1;
}

async function run(): Promise<void> {
  await refusePortsInUse(PORTS);
  if (!(await buildPage())) return;
  say(
    'Starting: three operator simulators, the SIM swap service, accounts, gateway, sign-in, risk desk …',
  );
  await using stack = await startStack({ ports: PORTS, operators: 'three' });
  const { analyst, lead } = stack.people;
  say(`
The risk desk       ${stack.url}   (open it in a browser)

Sign in as
  ${lead.login}   password ${lead.password}   ${lead.does}
  ${analyst.login}   password ${analyst.password}   ${analyst.does}

OpenID provider     ${stack.issuer}
gateway             ${stack.gatewayUrl}
${stack.operators.map(operatorLine).join('\n')}
audit log           ${stack.auditLog}   (gone when the demo ends)

Ctrl-C ends all.
`);
  await interrupted;
  say('Stopping …');
}

/** Whether the page is built. It takes some seconds, and is done again each time: it may have changed. */
async function buildPage(): Promise<boolean> {
  say('Building the page …');
  const directory = fileURLToPath(new URL('..', import.meta.url));
  const vite = fileURLToPath(import.meta.resolve('vite/package.json')).replace(
    /package\.json$/,
    'bin/vite.js',
  );
  const build = spawn(process.execPath, [vite, 'build', '--logLevel', 'error'], {
    cwd: directory,
    stdio: 'inherit',
    detached: true,
  });
  const ended = once(build, 'exit').then(([code]: unknown[]) => code);
  const outcome = await Promise.race([ended, interrupted]);
  if (outcome === 'interrupted') {
    build.kill('SIGTERM');
    await ended;
    say('Stopped.');
    return false;
  }
  if (outcome !== 0) throw new Error('The page could not be built.');
  return true;
}

function operatorLine({ name, statsUrl }: SimulatedOperator): string {
  return `${name.padEnd(19)} ${statsUrl}   (what the simulator of this operator has seen)`;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
