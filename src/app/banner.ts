import { exampleQuery, type ExampleSettings } from './explorerQuery.ts';
import type { LaunchedSimulator } from '../../simulator/launch.ts';
import { TEST_NUMBERS } from '../../simulator/testNumbers.ts';

const SHOWN = ['001', '002', '004', '006', '010'];

/** What a user sees who starts the server to try it: where it is, and a query to copy. */
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

Numbers to try (all of them: docs/test-numbers.md):
${numbers.map(({ number, does }) => `  ${number}  ${does}`).join('\n')}

Ctrl-C ends both.
`;
}
