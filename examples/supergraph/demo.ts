import { onTermination } from '../../src/system/termination.ts';
import { portOrFree } from '../processes.ts';
import { composeRunning } from './composition.ts';
import { startThreeOperators, type SimulatedOperator } from './operators.ts';
import { startGateway, startSubgraphsWith } from './stack.ts';

/** Of the gateway, unless another program has it: `npm start` listens there as well. */
const PORT = 4000;

const PREFIXES = { vodafone: ['+44'], claro: ['+120'], aggregator: ['+129'] };

/** Customers of each operator: one whose SIM was swapped lately, and one who has had it for years. */
const NUMBERS = [
  ['+447700900002', '+447700900004'],
  ['+12005550195', '+12005550100'],
  ['+12995550197', '+12995550100'],
].flat();
const QUERY = `{ customersByPhone(e164s: ${JSON.stringify(NUMBERS)}) { customer { name } phoneNumber { e164 lastSimSwap simSwappedWithin(maxAgeHours: 240) } } }`;

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
  say('Starting: three operator simulators, two subgraphs, the gateway …');
  await using operators = await startThreeOperators(PREFIXES);
  await using subgraphs = await startSubgraphsWith({ accounts: 0, simSwap: 0 }, operators.settings);
  const { accounts, simSwap } = subgraphs;
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
${operators.list.map(operatorLine).join('\n')}

One query joins the customers of the first with the SIM swaps of the second, from three operators:
Vodafone prompts the owner of a number for consent, Claro issues a token for each lookup, and one token
of the aggregator serves all its numbers.

  curl -s ${gateway.url} -H 'content-type: application/json' \\
    -d '${JSON.stringify({ query: QUERY })}'

Ctrl-C ends all.
`);
  await interrupted;
  say('Stopping …');
}

function operatorLine({ name, prefixes, statsUrl }: SimulatedOperator): string {
  return `${name.padEnd(19)} ${statsUrl}   (the simulator of ${prefixes.join(', ')}…, and what it has seen)`;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
