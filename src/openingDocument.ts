import { parse, print } from 'graphql';
import type { Role } from './graphql/schema.ts';
import { TEST_NUMBERS } from './simulator/testNumbers.ts';

/** One query to start with: `+447700900002` got a new SIM three days ago. */
export function exampleQuery(role: Role): string {
  return role === 'bff'
    ? '{ phoneNumber(e164: "+447700900002") { e164 lastSimSwap simSwappedWithin(maxAgeHours: 240) } }'
    : '{ _entities(representations: [{__typename: "PhoneNumber", e164: "+447700900002"}]) ' +
        '{ ... on PhoneNumber { e164 lastSimSwap simSwappedWithin(maxAgeHours: 240) } } }';
}

/** What the explorer opens with: that query, and below it the test numbers where a simulator is asked. */
export function openingDocument(role: Role, isSimulated: boolean): string {
  const query = print(parse(exampleQuery(role)));
  if (!isSimulated) return `${query}\n`;
  const numbers = TEST_NUMBERS.map(({ number, does }) => `# ${number}  ${does}`);
  return `${query}

# The operator is simulated. Its numbers, each of which does one thing:
#
${numbers.join('\n')}
`;
}
