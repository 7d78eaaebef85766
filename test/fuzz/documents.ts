import type { Random } from '../random.ts';
import { mutated, textOf, valueOf } from './rubbish.ts';

/** An operation as it stands in a request's body. */
export interface Operation {
  readonly query: unknown;
  readonly variables?: unknown;
  readonly operationName?: unknown;
  readonly extensions?: unknown;
}

type Role = 'bff' | 'subgraph';

/** A number of a range reserved for fiction. */
export function numberOf(random: Random): string {
  return `+447700900${String(random.below(1000)).padStart(3, '0')}`;
}

/** A document that follows the grammar, often the schema too, and sometimes goes much too far. */
export function documentOf(random: Random, role: Role): string {
  const document = random.chance(0.1) ? hostileDocument(random, role) : plainDocument(random, role);
  return random.chance(0.4) ? mutated(document, random) : document;
}

/** An operation that is well-formed, with variables of every kind. */
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

/** Representations that are right, nearly right, and not at all. */
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

function plainDocument(random: Random, role: Role): string {
  const operations = Array.from({ length: random.chance(0.9) ? 1 : random.below(4) }, () =>
    operation(random, role),
  );
  const fragments = Array.from(
    { length: random.chance(0.3) ? random.below(4) : 0 },
    (_, index) =>
      `fragment F${index} on ${random.pick(['PhoneNumber', 'Query', 'Nobody'])} ${selections(random, 2)}`,
  );
  return [...operations, ...fragments].join(random.pick(['\n', ' ', ',']));
}

function operation(random: Random, role: Role): string {
  const head = random.pick([
    '',
    '',
    'query ',
    'query A ',
    'query A($v: Int! = 3, $n: ID) ',
    'mutation ',
    'subscription ',
  ]);
  const roots = Array.from({ length: 1 + random.below(3) }, () => rootField(random, role));
  return `${head}{ ${roots.join(' ')} }`;
}

function rootField(random: Random, role: Role): string {
  const alias = random.chance(0.4) ? `a${random.below(4)}: ` : '';
  const e164 = random.chance(0.8) ? JSON.stringify(numberOf(random)) : literal(random, 2);
  const fields = selections(random, 3);
  if (random.chance(0.15)) {
    return random.pick([
      '__typename',
      '__schema { types { name fields { name args { name type { name ofType { name } } } } } }',
      '__type(name: "PhoneNumber") { name }',
      '_service { sdl }',
      `nothing ${fields}`,
    ]);
  }
  if (role === 'subgraph') {
    return `${alias}_entities(representations: [{ __typename: "PhoneNumber", e164: ${e164} }]) { ... on PhoneNumber ${fields} }`;
  }
  return random.chance(0.5)
    ? `${alias}phoneNumber(e164: ${e164}) ${fields}`
    : `${alias}phoneNumbers(e164s: [${e164}, ${JSON.stringify(numberOf(random))}]) ${fields}`;
}

function selections(random: Random, depth: number): string {
  const length = 1 + random.below(4);
  return `{ ${Array.from({ length }, () => selection(random, depth)).join(' ')} }`;
}

function selection(random: Random, depth: number): string {
  const alias = random.chance(0.4) ? `b${random.below(9)}: ` : '';
  const directive = random.chance(0.1)
    ? random.pick([' @skip(if: true)', ' @include(if: $v)', ' @nothing', ' @skip', ' @defer'])
    : '';
  switch (random.below(depth > 0 ? 8 : 6)) {
    case 0:
      return `${alias}e164${directive}`;
    case 1:
      return `${alias}lastSimSwap${directive}`;
    case 2:
    case 3:
      return `${alias}simSwappedWithin(maxAgeHours: ${random.chance(0.8) ? random.below(2500) : literal(random, 2)})${directive}`;
    case 4:
      return `${alias}simSwappedWithin${directive}`;
    case 5:
      return random.pick(['__typename', '...F0', '...F1', '...F9', 'nothing']);
    case 6:
      return `... on ${random.pick(['PhoneNumber', 'Query'])}${directive} ${selections(random, depth - 1)}`;
    default:
      return `...${directive} ${selections(random, depth - 1)}`;
  }
}

function literal(random: Random, depth: number): string {
  switch (random.below(depth > 0 ? 8 : 6)) {
    case 0:
      return random.pick(['null', 'true', 'RED', '$v', '$n', '$missing']);
    case 1:
      return random.pick(['0', '-1', '2147483648', '1e400', '0.5', '9'.repeat(400)]);
    case 2:
    case 3:
      return JSON.stringify(textOf(random, 30));
    case 4:
      return `"""${textOf(random, 30)}"""`;
    case 5:
      return JSON.stringify(numberOf(random));
    case 6:
      return `[${literal(random, depth - 1)}, ${literal(random, depth - 1)}]`;
    default:
      return `{ a: ${literal(random, depth - 1)}, e164: ${literal(random, depth - 1)} }`;
  }
}

/** What a client sends that wants the service to work long, ask much, or fall over. */
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
  ])();
}
