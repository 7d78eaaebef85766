import type { Random } from '../support/random.ts';
import { grammaticalDocument } from './grammar.ts';
import { mutated, textOf, valueOf } from './rubbish.ts';

export interface Operation {
  readonly query: unknown;
  readonly variables?: unknown;
  readonly operationName?: unknown;
  readonly extensions?: unknown;
}

type Role = 'bff' | 'subgraph';

export function numberOf(random: Random): string {
  return `+447700900${String(random.below(1000)).padStart(3, '0')}`;
}

/** A document of the grammar or, rarely, a hostile one; some have mistakes. */
export function documentOf(random: Random, role: Role): string {
  const document = random.chance(0.05)
    ? hostileDocument(random, role)
    : grammaticalDocument(random, role);
  return random.chance(0.2) ? mutated(document, random) : document;
}

export function operationWithVariables(random: Random, role: Role): Operation {
  const query =
    role === 'bff'
      ? random.pick([
          'query ($n: ID!, $h: Int!) { phoneNumber(e164: $n) { simSwappedWithin(maxAgeHours: $h) } }',
          'query ($n: [ID!]!, $h: Int! = 24) { phoneNumbers(e164s: $n) { e164 lastSimSwap a: simSwappedWithin(maxAgeHours: $h) } }',
          'query ($n: [ID!]!, $h: Boolean!) { phoneNumbers(e164s: $n) { e164 @skip(if: $h) lastSimSwap @include(if: $h) } }',
        ])
      : 'query ($n: [_Any!]!, $h: Int! = 24) { _entities(representations: $n) { ... on PhoneNumber { e164 lastSimSwap simSwappedWithin(maxAgeHours: $h) } } }';
  const usual: Record<string, unknown> = {
    n: role === 'bff' ? numbersOf(random) : representationsOf(random),
    h: random.pick([1, 24, 240, 2400, 0, -1, 2401, true]),
  };
  if (random.chance(0.3)) usual[textOf(random, 8)] = valueOf(random, 2);
  if (random.chance(0.3)) usual[random.pick(['n', 'h'])] = valueOf(random, 4);
  const isBad = random.chance(0.15);
  return { query, variables: isBad ? valueOf(random, 5) : usual };
}

export function representationsOf(random: Random): unknown[] {
  const length = random.chance(0.03) ? 300 : random.below(6);
  return Array.from({ length }, () => {
    if (random.chance(0.2)) return valueOf(random, 3);
    const representation: Record<string, unknown> = {
      __typename: random.chance(0.8) ? 'PhoneNumber' : valueOf(random, 1),
      e164: random.chance(0.7) ? numberOf(random) : valueOf(random, 2),
    };
    if (random.chance(0.2)) representation[textOf(random, 10)] = valueOf(random, 2);
    if (random.chance(0.1)) delete representation[random.pick(['__typename', 'e164'])];
    return representation;
  });
}

function numbersOf(random: Random): unknown {
  if (random.chance(0.3)) return numberOf(random);
  const length = random.chance(0.03) ? 300 : random.below(6);
  return Array.from({ length }, () => (random.chance(0.8) ? numberOf(random) : valueOf(random, 1)));
}

/** What a client sends to make the service work long, call the operator often, or crash. */
function hostileDocument(random: Random, role: Role): string {
  const many = random.pick([50, 200, 500, 1000]);
  const times = (text: (index: number) => string): string =>
    Array.from({ length: many }, (_, index) => text(index)).join(' ');
  const number = JSON.stringify(numberOf(random));
  const root = (fields: string): string =>
    role === 'bff'
      ? `phoneNumber(e164: ${number}) { ${fields} }`
      : `_entities(representations: [{ __typename: "PhoneNumber", e164: ${number} }]) { ... on PhoneNumber { ${fields} } }`;
  return random.pick([
    () => `{ ${root(times((index) => `a${index}: simSwappedWithin(maxAgeHours: ${index + 1})`))} }`,
    () => `{ ${root(times(() => 'e164'))} }`,
    () => `{ ${times((index) => `a${index}: ${root('lastSimSwap')}`)} }`,
    () =>
      `{ ${root('...F0')} } ${times((index) => `fragment F${index} on PhoneNumber { ...F${index + 1} ...F${index + 1} e164 }`)}`,
    () =>
      `{ ${root('...F0')} } fragment F0 on PhoneNumber { ...F1 } fragment F1 on PhoneNumber { ...F0 }`,
    () => `{ ${root(`${'... { '.repeat(many)}e164${' }'.repeat(many)}`)} }`,
    () => `{ ${root(`e164 ${'@skip(if: false) '.repeat(many)}`)} }`,
    () => `query (${times((index) => `$v${index}: Int`)}) { ${root('e164')} }`,
    () => `{ phoneNumbers(e164s: ${'['.repeat(many)}${']'.repeat(many)}) { e164 } }`,
    () => '{'.repeat(many),
    () => `{ __schema { types { ${'fields { type { '.repeat(12)}name${' } }'.repeat(12)} } } }`,
    () => `{ ${root(times((index) => `... { x: simSwappedWithin(maxAgeHours: ${index % 7}) }`))} }`,
    () => `#${'x'.repeat(many * 100)}\n{ ${root('e164')} }`,
    () => `#${'$#'.repeat(many * 100)}\n{ ${root('e164')} }`,
    () => `${'\n'.repeat(many * 20)}{ ${root(times(() => 'simSwappedWithin(maxAgeHours: -1)'))} }`,
  ])();
}
