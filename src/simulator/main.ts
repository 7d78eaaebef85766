import { parseArgs } from 'node:util';
import { onTermination } from '../termination.ts';
import { DEMO_CLIENT, startSimulator } from './simulator.ts';

const USAGE =
  'npm run simulator -- [--port N]   N from 0 (any that is free) to 65535; 4010 if left out\n';

/** Ends the program with a word to its user. */
function fail(message: string): never {
  process.stderr.write(message);
  process.exit(1);
}

function readPort(): number {
  try {
    const { values } = parseArgs({ options: { port: { type: 'string', default: '4010' } } });
    const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : Number.NaN;
    return port <= 65_535 ? port : fail(USAGE);
  } catch {
    return fail(USAGE);
  }
}

const port = readPort();
const simulator = await startSimulator({ port }).catch((error: unknown) => {
  const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  return fail(
    isTaken
      ? `Port ${port} is in use. Choose another with --port, or 0 for any that is free.\n`
      : `The simulator cannot listen on port ${port}.\n`,
  );
});

let isStopping = false;
const stop = (): void => {
  if (isStopping) return;
  isStopping = true;
  void simulator.close().then(() => process.exit(0));
};
onTermination(stop);
// Started by another program, it ends with it.
process.on('disconnect', stop);

if (process.send === undefined) {
  process.stdout.write(
    [
      `The operator simulator listens. Settings for a server that is to ask it:`,
      `  OPERATOR_AUTH_URL=${simulator.authUrl}`,
      `  OPERATOR_SIM_SWAP_URL=${simulator.simSwapUrl}`,
      `  OPERATOR_CLIENT_ID=${DEMO_CLIENT.clientId}`,
      `  OPERATOR_CLIENT_SECRET=${DEMO_CLIENT.clientSecret}`,
      `What it has seen: curl ${simulator.authUrl}/stats\n`,
    ].join('\n'),
  );
} else {
  process.send({ authUrl: simulator.authUrl, simSwapUrl: simulator.simSwapUrl });
}
