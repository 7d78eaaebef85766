import { startGateway, startSubgraphs } from './stack.ts';

const PORTS = { gateway: 4000, simSwap: 4001, accounts: 4002 };
const QUERY =
  '{ customers { name phoneNumber { e164 lastSimSwap simSwappedWithin(maxAgeHours: 240) } } }';

const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<unknown>();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, interrupt);

say('Starting: the operator simulator, two subgraphs, the gateway …');
await using subgraphs = await startSubgraphs(PORTS).catch(giveUp);
const { accounts, simSwap, statsUrl } = subgraphs;
await using gateway = await startGateway([accounts, simSwap], PORTS.gateway).catch(giveUp);

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

/** What went wrong is on the screen already, from the program that it happened to. */
function giveUp(error: unknown): never {
  say(error instanceof Error ? error.message : 'The demo did not start.');
  say(`It needs these ports: ${Object.values(PORTS).join(', ')}. Is another demo running?`);
  throw error;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
