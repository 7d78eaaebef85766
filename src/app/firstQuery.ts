import { parse, print } from 'graphql';
import type { ExplorerOpening } from '../graphql/explorer.ts';
import type { Role } from '../graphql/typeDefs.ts';
import type { SimulatorAddress } from '../../simulator/address.ts';
import { TEST_NUMBERS } from '../../simulator/testNumbers.ts';

export interface ExampleSettings {
  readonly role: Role;
  readonly isSimulated: boolean;
  /** The required headers, each with a placeholder. */
  readonly headers: Readonly<Record<string, string>>;
}

const FIELDS = 'e164 lastSimSwap simSwappedWithin(maxAgeHours: 240)';

/** A query for one number, or for several. */
function queryOf(role: Role, e164s: readonly string[], fields: string): string {
  if (role === 'bff') {
    return e164s.length === 1
      ? `{ phoneNumber(e164: "${e164s[0]}") { ${fields} } }`
      : `{ phoneNumbers(e164s: ${JSON.stringify(e164s)}) { ${fields} } }`;
  }
  const representations = e164s.map((e164) => `{__typename: "PhoneNumber", e164: "${e164}"}`);
  return `{ _entities(representations: [${representations.join(', ')}]) { ... on PhoneNumber { ${fields} } } }`;
}

/** One query to start with: `+447700900002` got a new SIM three days ago. */
function exampleQuery(role: Role): string {
  return queryOf(role, ['+447700900002'], FIELDS);
}

/** What the explorer opens with: a tab for a number, one for a list, one for why an answer is unknown. */
export function explorerOpening({ role, isSimulated, headers }: ExampleSettings): ExplorerOpening {
  const list = ['+447700900001', '+447700900004', '+447700900006'];
  const check = 'e164 simSwapCheck(maxAgeHours: 240) { result reason retryAfterSeconds }';
  const queries = {
    Number: exampleQuery(role),
    List: queryOf(role, list, FIELDS),
    WhyUnknown: queryOf(role, ['+447700900010'], check),
  };
  return {
    documents: Object.entries(queries).map(([name, query]) =>
      print(parse(`query ${name} ${query}`)),
    ),
    headers,
    testNumbers: isSimulated ? TEST_NUMBERS : [],
  };
}

const SHOWN = ['001', '002', '004', '006', '010'];

export function banner(
  url: string,
  { role, headers }: ExampleSettings,
  simulator: SimulatorAddress,
): string {
  const query = exampleQuery(role);
  const headerLines = Object.entries(headers).map(
    ([name, value]) => `    -H '${name}: ${value}' \\\n`,
  );
  const numbers = TEST_NUMBERS.filter(({ number }) => SHOWN.includes(number.slice(-3)));
  return `
SIM swap ${role === 'bff' ? 'BFF' : 'subgraph'}      ${url}/graphql   (open it in a browser to explore)
operator simulator  ${simulator.authUrl}   (what it has seen: ${simulator.authUrl}/stats)

A query to copy:

  ${query}

The same by curl:

  curl -s ${url}/graphql -H 'content-type: application/json' \\
${headerLines.join('')}    -d '${JSON.stringify({ query })}'

Numbers to try (all of them: docs/testing.md):
${numbers.map(({ number, does }) => `  ${number}  ${does}`).join('\n')}

Ctrl-C ends both.
`;
}
