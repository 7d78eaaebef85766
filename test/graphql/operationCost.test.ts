import {
  getOperationAST,
  parse,
  visit,
  type DocumentNode,
  type FragmentDefinitionNode,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { costOf, mostOf, type OperationCost } from '../../src/graphql/operationCost.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import type { Role } from '../../src/graphql/typeDefs.ts';

const SCHEMAS = { bff: createSchema('bff'), subgraph: createSchema('subgraph') };
const NO_LIMITS = {
  maxNumbersPerOperation: 10_000,
  maxQuestionsPerNumber: 1000,
  maxReplyBytes: 100_000_000,
};

function count(query: string, variables = {}, limits = NO_LIMITS, role: Role = 'bff') {
  return countIn(parse(query), variables, limits, role);
}

function countIn(document: DocumentNode, variables = {}, limits = NO_LIMITS, role: Role = 'bff') {
  const operation = getOperationAST(document);
  if (operation === null || operation === undefined) throw new Error('The test has no operation.');
  const schema = SCHEMAS[role];
  return costOf({ schema, document, operation, variables }, mostOf(limits), new WeakMap());
}

/** What the operator would be queried for, and how many answers the reply has; its bytes have tests of their own. */
type Counted = Omit<OperationCost, 'replyBytes'>;

type Row = readonly [what: string, query: string, cost: Counted, variables?: object];

function asks(numbers: number, questionsPerNumber: number, answers: number): Counted {
  return { numbers, questionsPerNumber, answers };
}

const A = '+447700900001';
const B = '+447700900002';
const ONE = `phoneNumber(e164: "${A}")`;
const OTHER = `phoneNumber(e164: "${B}") { simSwappedWithin }`;
const OTHER_F0 = OTHER.replace('simSwappedWithin', '...F0');
const BOTH = `phoneNumbers(e164s: ["${A}", "${B}"])`;
const LIST = 'query ($l: [ID!]!) { phoneNumbers(e164s: $l) { lastSimSwap } }';
const IN_LIST = `${BOTH} { simSwappedWithin }`;
const LIST_OF_TWO = `query ($a: ID!, $b: ID! = "${B}") { phoneNumbers(e164s: [$a, $b]) { lastSimSwap } }`;
const SPELLINGS = [A, '+44 7700 900001', 'tel:+447700900001', '+44-7700-900001'];
const F = 'fragment F on PhoneNumber { lastSimSwap }';
const Q = `fragment Q on Query { ${ONE} { ...F simSwappedWithin } }`;
const YES_NO = '($yes: Boolean!, $no: Boolean = false)';
const of1 = (fields: string, variables = '') => `query ${variables} { ${ONE} { ${fields} } } `;
const within = (hours: number | string) => `simSwappedWithin(maxAgeHours: ${hours})`;

const check = (hours: number) => `c: simSwapCheck(maxAgeHours: ${hours}) { result }`;
const NO_CHECK = check(9999);
const by = (variable: string) => of1(`a: ${within('$h')} b: ${within(24)}`, `(${variable})`);
const skip = (value: unknown) => `@skip(if: ${String(value)})`;
const only = (value: unknown) => `@include(if: ${String(value)})`;

describe('the cost of an operation of the BFF', () => {
  it.for<Row>([
    ['nothing', '{ __typename }', asks(0, 0, 0)],
    ['the schema', '{ __schema { types { name } } }', asks(0, 0, 0)],
    ['a number and no question', of1('e164 __typename'), asks(0, 0, 2)],
    ['one question', of1('lastSimSwap'), asks(1, 1, 1)],
    ['both', of1('lastSimSwap simSwappedWithin e164'), asks(1, 2, 3)],
    ['a list', `{ ${BOTH} { lastSimSwap } }`, asks(2, 1, 2)],
    ['an empty list', '{ phoneNumbers(e164s: []) { lastSimSwap } }', asks(0, 0, 1)],
    ['a number for a list', `{ phoneNumbers(e164s: "${A}") { lastSimSwap } }`, asks(1, 1, 1)],
    ['a list from one variable', LIST, asks(2, 1, 3), { l: [A, B, A] }],
    ['a list of variables', LIST_OF_TWO, asks(2, 1, 2), { a: A, b: B }],
    ['a number by default', LIST_OF_TWO, asks(1, 1, 2), { a: B }],
    ['one number in four spellings', LIST, asks(1, 1, 4), { l: SPELLINGS }],
    ['invalid numbers', LIST, asks(2, 1, 3), { l: ['1', '2', '1'] }],
    ['a number that is an integer', LIST, asks(1, 1, 1), { l: [447_700_900_001] }],
    ['an integer and its text once', LIST, asks(1, 1, 2), { l: [447_700_900_001, '447700900001'] }],
    ['a number for a list by a variable', LIST, asks(1, 1, 1), { l: A }],

    ['a window and its default once', of1(`a: simSwappedWithin b: ${within(240)}`), asks(1, 1, 2)],
    ['a window by value and by variable once', by('$h: Int!'), asks(1, 1, 2), { h: 24 }],
    ['the default of a variable', by('$h: Int! = 24'), asks(1, 1, 2)],
    [
      'the default of the field',
      of1(`a: ${within('$h')} simSwappedWithin`, '($h: Int = 240)'),
      asks(1, 1, 2),
    ],
    ['two windows', of1(`a: ${within(1)} b: ${within(2)}`), asks(1, 2, 2)],
    ['all refused windows once', of1(`a: ${within(0)} b: ${within(2)} ${NO_CHECK}`), asks(1, 2, 4)],
    ['only refused windows', `{ ${BOTH} { ${within(0)} } }`, asks(2, 1, 2)],
    ['a window in two fields once', of1(`${within(2)} ${check(2)}`), asks(1, 1, 3)],
    [
      'one number under two aliases: the questions of both',
      `{ a: ${ONE} { lastSimSwap } b: phoneNumber(e164: "tel:${A}") { simSwappedWithin } }`,
      asks(1, 2, 2),
    ],
    ['two numbers: each its own', `{ a: ${ONE} { lastSimSwap } b: ${OTHER} }`, asks(2, 1, 2)],
    ['a number by itself and in a list', `{ ${ONE} { lastSimSwap } ${IN_LIST} }`, asks(2, 2, 3)],
    [
      'equal questions under many aliases once',
      `{ ${repeat(50, (i) => `a${i}: ${ONE} { b${i}: simSwappedWithin }`)} }`,
      asks(1, 1, 50),
    ],

    ['inline fragments', `{ ... { ${ONE} { ... { ... { lastSimSwap } } } } }`, asks(1, 1, 1)],
    ['fragments of both types', `{ ...Q } ${Q} ${F}`, asks(1, 2, 2)],
    ['fragments in fragments', of1('...F0') + chain(30), asks(1, 30, 30)],
    [
      'a fragment twice in one place once',
      of1('...F0 ...F0 ... { ...F0 }') + chain(3),
      asks(1, 3, 3),
    ],
    [
      'a fragment in two places',
      `{ a: ${ONE} { ...F0 } b: ${OTHER_F0} } ${chain(3)}`,
      asks(2, 3, 6),
    ],
    ['no fragment that is not spread', `{ __typename } ${chain(3)}`, asks(0, 0, 0)],
    ['a fragment that spreads itself once', of1('...F') + F.replace('}', '...F }'), asks(1, 1, 1)],
    ['no fragment that is missing', of1('lastSimSwap ...Missing'), asks(1, 1, 1)],

    ['@skip', of1(`lastSimSwap ${skip(true)} simSwappedWithin ${skip(false)}`), asks(1, 1, 1)],
    ['@include', of1(`lastSimSwap ${only(false)} simSwappedWithin ${only(true)}`), asks(1, 1, 1)],
    ['@skip beside @include', of1(`lastSimSwap ${only(true)} ${skip(true)}`), asks(0, 0, 1)],
    [
      'a root field that is left out',
      `{ a: ${ONE} ${skip(true)} { lastSimSwap } b: ${OTHER} }`,
      asks(1, 1, 1),
    ],
    [
      'fragments that are left out',
      of1(`...F ${only(false)} ... ${skip(true)} { simSwappedWithin } e164`) + F,
      asks(0, 0, 1),
    ],
    ['a fragment that is left out once', of1(`...F ${skip(true)} ...F`) + F, asks(1, 1, 1)],
    [
      'a variable that decides',
      of1(`lastSimSwap ${only('$yes')} simSwappedWithin ${only('$no')}`, YES_NO),
      asks(1, 1, 1),
      { yes: true },
    ],
  ])('%s', ([, query, expected, variables]) => {
    expect(count(query, variables)).toMatchObject(expected);
  });
});

describe('the cost of an operation of the subgraph', () => {
  const ENTITIES = `query ($r: [_Any!]!) { ${entities('$r', 'lastSimSwap simSwappedWithin')} }`;
  const TWO = `query ($a: [_Any!]!, $b: [_Any!]!) { a: ${entities('$a', 'lastSimSwap')} b: ${entities('$b', 'simSwappedWithin')} }`;
  const LITERAL = `{ ${entities(`[{ __typename: "PhoneNumber", e164: "${A}" }]`, 'lastSimSwap')} }`;
  const NONE = [of(7), of(null), {}, 'text', 7, []];

  it.for<Row>([
    ['representations', ENTITIES, asks(2, 2, 4), { r: [of(A), of(B)] }],
    ['equal representations once', ENTITIES, asks(1, 2, 4), { r: [of(A), of(A)] }],
    ['one number in two spellings once', ENTITIES, asks(1, 2, 4), { r: [of(A), of(`tel:${A}`)] }],
    ['each without a number', ENTITIES, asks(7, 2, 14), { r: [...NONE, of(A)] }],
    ['nothing', ENTITIES, asks(0, 0, 2), { r: [] }],
    ['many aliases together', TWO, asks(2, 2, 3), { a: [of(A)], b: [of(A), of(B)] }],
    ['representations in the document', LITERAL, asks(1, 1, 1)],
  ])('%s', ([, query, expected, variables]) => {
    expect(count(query, variables, NO_LIMITS, 'subgraph')).toMatchObject(expected);
  });
});

it.each([{}, { l: null }, { l: [A, null] }, { l: {} }])(
  'variables that do not fit have no cost: the execution refuses them: %j',
  (variables) => {
    expect(count(LIST, variables)).toBeUndefined();
  },
);

describe('one document in two requests', () => {
  const hours = by('$h: Int!');
  const skipped = `query ($no: Boolean!) { ${BOTH} { lastSimSwap ...F @skip(if: $no) } } fragment F on PhoneNumber { ${within(1)} }`;
  const root = `query ($yes: Boolean!) { ${ONE} { e164 } ... @include(if: $yes) { ${BOTH} { lastSimSwap } } }`;

  it.for<readonly [string, string, ...(readonly [object, Counted])[]]>([
    ['numbers', LIST, [{ l: [A] }, asks(1, 1, 1)], [{ l: [A, B, A] }, asks(2, 1, 3)]],
    ['a period', hours, [{ h: 24 }, asks(1, 1, 2)], [{ h: 25 }, asks(1, 2, 2)]],
    ['a field', skipped, [{ no: true }, asks(2, 1, 2)], [{ no: false }, asks(2, 2, 4)]],
    ['a root field', root, [{ yes: false }, asks(0, 0, 1)], [{ yes: true }, asks(2, 1, 3)]],
  ])('with %s that differs', ([, query, ...requests]) => {
    const document = parse(query);
    for (const [variables, cost] of [...requests, ...requests]) {
      expect(countIn(document, variables)).toMatchObject(cost);
    }
  });
});

it.each([
  [15, 2, 15],
  [500, 2, 21],
  [500, 10_000, 500],
])(
  'the cost of an operation beyond a limit is counted up to ten times the limit: %i of %i',
  (length, maxNumbersPerOperation, numbers) => {
    const l = Array.from({ length }, (_, i) => `+447700900${500 + i}`);
    const counted = count(LIST, { l }, { ...NO_LIMITS, maxNumbersPerOperation });
    expect(counted).toMatchObject({ numbers });
  },
);

it('the fields below fragments in fragments are read for one list, not for each', () => {
  const [lists, checks, fields] = [56, 75, 500];
  const below = `fragment F on PhoneNumber { ${repeat(checks, (n) => `a${n}: simSwapCheck { ...C }`)} }`;
  const last = `fragment C on SimSwapCheck { ${'asOf '.repeat(fields)} }`;
  const document = parse(
    `{ ${repeat(lists, (n) => `a${n}: phoneNumbers(e164s: []) { ...F }`)} } ${below} ${last}`,
  );
  let reads = 0;
  visit(document.definitions.at(-1) as FragmentDefinitionNode, {
    Field: (field) => {
      const { name } = field;
      Object.defineProperty(field, 'name', { get: () => ((reads += 1), name) });
    },
  });
  const limits = { ...NO_LIMITS, maxNumbersPerOperation: 3, maxQuestionsPerNumber: 2 };
  expect(countIn(document, {}, limits)?.answers).toBeGreaterThan(480);
  // For all 56 they were 2.1 million, and others' requests waited.
  expect(reads).toBeLessThan(3 * checks * fields);
});

function entities(representations: string, field: string): string {
  return `_entities(representations: ${representations}) { ... on PhoneNumber { ${field} } }`;
}

function of(e164: unknown) {
  return { __typename: 'PhoneNumber', e164 };
}

/** Fragments of which each has a window and spreads the next. */
function chain(length: number): string {
  return repeat(length, (i) => {
    const next = i + 1 < length ? `...F${i + 1}` : '';
    return `fragment F${i} on PhoneNumber { w${i}: ${within(i + 1)} ${next} }`;
  });
}

function repeat(times: number, part: (index: number) => string): string {
  return Array.from({ length: times }, (_, index) => part(index)).join(' ');
}
