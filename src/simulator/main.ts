import { parseArgs } from 'node:util';
import { fail, onTermination } from '../termination.ts';
import { DIALECTS, type Dialect } from './dialect.ts';
import { DEMO_CLIENT, startSimulator } from './simulator.ts';

const USAGE = `npm run simulator -- [--port N] [--dialect D]
  N from 0 (any that is free) to 65535; 4010 if left out
  D the version of CAMARA SIM Swap that it speaks, ${DIALECTS.join(' or ')}; 2.1 if left out
`;

interface Arguments {
  readonly port: number;
  readonly dialect: Dialect;
}

function readArguments(): Arguments {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: 'string', default: '4010' },
        dialect: { type: 'string', default: '2.1' },
      },
    });
    const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : Number.NaN;
    const dialect = DIALECTS.find((one) => one === values.dialect);
    return port <= 65_535 && dialect !== undefined ? { port, dialect } : fail(USAGE);
  } catch {
    return fail(USAGE);
  }
}

const { port, dialect } = readArguments();
const simulator = await startSimulator({ port, dialect }).catch((error: unknown) => {
  const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  return fail(
    isTaken
      ? `Port ${port} is in use. Choose another with --port, or 0 for any that is free.`
      : `The simulator cannot listen on port ${port}.`,
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
