import { parse, print } from 'graphql';
import type { Role } from '../graphql/schema.ts';
import { TEST_NUMBERS } from '../../simulator/testNumbers.ts';

export interface ExampleSettings {
  readonly role: Role;
  readonly isSimulated: boolean;
  /** Headers that a request is refused without, each with a value to be replaced. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One query to start with: `+447700900002` got a new SIM three days ago. */
export function exampleQuery(role: Role): string {
  return role === 'bff'
    ? '{ phoneNumber(e164: "+447700900002") { e164 lastSimSwap simSwappedWithin(maxAgeHours: 240) } }'
    : '{ _entities(representations: [{__typename: "PhoneNumber", e164: "+447700900002"}]) ' +
        '{ ... on PhoneNumber { e164 lastSimSwap simSwappedWithin(maxAgeHours: 240) } } }';
}

/** What the explorer opens with: that query, where a token goes if one is needed, and the test numbers. */
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
  return `# The operator is simulated. Its numbers, each of which does one thing:
#
${numbers.join('\n')}`;
}
