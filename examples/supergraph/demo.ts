import { onTermination } from '../../src/termination.ts';
import { portOrFree } from '../processes.ts';
import { startGateway, startSubgraphs } from './stack.ts';

/** Where these are taken, any that are free. */
const PORTS = { gateway: 4000, simSwap: 4001, accounts: 4002 };
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
  await using subgraphs = await startSubgraphs({
    simSwap: await portOrFree(PORTS.simSwap),
    accounts: await portOrFree(PORTS.accounts),
  });
  const { accounts, simSwap, statsUrl } = subgraphs;
  await using gateway = await startGateway([accounts, simSwap], await portOrFree(PORTS.gateway));

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
