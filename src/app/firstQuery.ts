import { parse, print } from 'graphql';
import type { Role } from '../graphql/typeDefs.ts';
import type { LaunchedSimulator } from '../../simulator/launch.ts';
import { TEST_NUMBERS } from '../../simulator/testNumbers.ts';

export interface ExampleSettings {
  readonly role: Role;
  readonly isSimulated: boolean;
  /** The required headers, each with a placeholder. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One query to start with: `+447700900002` got a new SIM three days ago. */
function exampleQuery(role: Role): string {
  return role === 'bff'
    ? '{ phoneNumber(e164: "+447700900002") { e164 lastSimSwap simSwappedWithin(maxAgeHours: 240) } }'
    : '{ _entities(representations: [{__typename: "PhoneNumber", e164: "+447700900002"}]) ' +
        '{ ... on PhoneNumber { e164 lastSimSwap simSwappedWithin(maxAgeHours: 240) } } }';
}

/** The explorer's first text: that query, a place for the token where one is required, and the test numbers. */
export function explorerQuery({ role, isSimulated, headers }: ExampleSettings): string {
  return [print(parse(exampleQuery(role))), wordsOnHeaders(headers), wordsOnNumbers(isSimulated)]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

function wordsOnHeaders(headers: ExampleSettings['headers']): string {
  if (Object.keys(headers).length === 0) return '';
  return `# This server needs an access token. Open "Headers" below this editor and put there what you were given:
#
#   ${JSON.stringify(headers)}
#
# Then fetch the schema again, with the round arrow at the lower left.`;
}

function wordsOnNumbers(isSimulated: boolean): string {
  if (!isSimulated) return '';
  const numbers = TEST_NUMBERS.map(({ number, does }) => `# ${number}  ${does}`);
  return `# The operator is simulated. Its numbers, each of which does one thing:\n#\n${numbers.join('\n')}`;
}

const SHOWN = ['001', '002', '004', '006', '010'];

export function banner(
  url: string,
  { role, headers }: ExampleSettings,
  simulator: LaunchedSimulator,
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
