import { onTermination } from '../../src/termination.ts';
import { portOrFree } from '../processes.ts';
import { composeRunning } from './composition.ts';
import { startGateway, startSubgraphs } from './stack.ts';

/** Of the gateway, unless another program has it: `npm start` listens there as well. */
const PORT = 4000;
const QUERY =
  '{ customers { name phoneNumber { e164 lastSimSwap simSwappedWithin(maxAgeHours: 240) } } }';

const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<unknown>();
onTermination(interrupt);

try {
  await run();
} catch (error) {
  // What went wrong is on the screen already, from the program that it happened to.
  say(error instanceof Error ? error.message : 'The demo did not start.');
  process.exitCode = 1;
}

async function run(): Promise<void> {
  say('Starting: the operator simulator, two subgraphs, the gateway …');
  await using subgraphs = await startSubgraphs({ accounts: 0, simSwap: 0 });
  const { accounts, simSwap, statsUrl } = subgraphs;
  const port = await portOrFree(PORT);
  await using gateway = await startGateway(await composeRunning([accounts, simSwap]), { port });
  if (port !== PORT) {
    const { port: freePort } = new URL(gateway.url);
    say(`Port ${PORT} is in use: the gateway listens on port ${freePort}.`);
  }

  say(`
gateway             ${gateway.url}   (open it in a browser to explore)
accounts subgraph   ${accounts.url}
SIM swap subgraph   ${simSwap.url}
operator simulator  ${statsUrl}   (what it has seen)

One query joins the customers of one with the SIM swaps of the other:

  curl -s ${gateway.url} -H 'content-type: application/json' \\
    -d '${JSON.stringify({ query: QUERY })}'

Ctrl-C ends all.
`);
  await interrupted;
  say('Stopping …');
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
