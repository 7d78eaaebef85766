import { getOperationAST, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import {
  coerceVariables,
  costOf,
  excessOf,
  maxAnswers,
  type OperationCost,
} from '../../src/graphql/operationCost.ts';
import { createSchema, type Role } from '../../src/graphql/schema.ts';

const SCHEMAS = { bff: createSchema('bff'), subgraph: createSchema('subgraph') };
const NO_LIMITS = {
  maxNumbersPerOperation: 10_000,
  maxQuestionsPerNumber: 1000,
  maxReplyBytes: 100_000_000,
};

interface Asked {
  readonly role?: Role;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

function count({ role = 'bff', query, variables = {} }: Asked, limits = NO_LIMITS) {
  const document = parse(query);
  const operation = getOperationAST(document);
  if (operation === null || operation === undefined) throw new Error('The test has no operation.');
  const schema = SCHEMAS[role];
  const coerced = coerceVariables(schema, operation, variables);
  return coerced && costOf({ schema, document, operation, variables: coerced }, limits);
}

/** What the operator is asked, and how much of the reply that is; its bytes have tests of their own. */
type Counted = Omit<OperationCost, 'replyBytes'>;

type Row = readonly [string, Asked, Counted];

function asks(numbers: number, questionsPerNumber: number, answers: number): Counted {
  return { numbers, questionsPerNumber, answers };
}

const A = '+447700900001';
const B = '+447700900002';

describe('what an operation of the BFF asks', () => {
  it.each<Row>([
    ['nothing', { query: '{ __typename }' }, asks(0, 0, 0)],
    ['the schema', { query: '{ __schema { types { name } } }' }, asks(0, 0, 0)],
    [
      'a number and no question',
      { query: `{ phoneNumber(e164: "${A}") { e164 __typename } }` },
      asks(0, 0, 2),
    ],
    ['one question', { query: `{ phoneNumber(e164: "${A}") { lastSimSwap } }` }, asks(1, 1, 1)],
    [
      'both',
      { query: `{ phoneNumber(e164: "${A}") { lastSimSwap simSwappedWithin e164 } }` },
      asks(1, 2, 3),
    ],
    [
      'a list',
      { query: `{ phoneNumbers(e164s: ["${A}", "${B}"]) { lastSimSwap } }` },
      asks(2, 1, 2),
    ],
    ['an empty list', { query: '{ phoneNumbers(e164s: []) { lastSimSwap } }' }, asks(0, 0, 0)],
    [
      'one number in place of a list',
      { query: `{ phoneNumbers(e164s: "${A}") { lastSimSwap } }` },
      asks(1, 1, 1),
    ],
    [
      'a list from one variable',
      {
        query: 'query ($l: [ID!]!) { phoneNumbers(e164s: $l) { lastSimSwap } }',
        variables: { l: [A, B, A] },
      },
      asks(2, 1, 3),
    ],
    [
      'a list of variables',
      {
        query: 'query ($a: ID!, $b: ID!) { phoneNumbers(e164s: [$a, $b]) { lastSimSwap } }',
        variables: { a: A, b: B },
      },
      asks(2, 1, 2),
    ],
    [
      'a variable with a default',
      { query: `query ($a: ID! = "${A}") { phoneNumber(e164: $a) { lastSimSwap } }` },
      asks(1, 1, 1),
    ],
    [
      'one number in four spellings',
      {
        query: 'query ($l: [ID!]!) { phoneNumbers(e164s: $l) { lastSimSwap } }',
        variables: { l: [A, '+44 7700 900001', 'tel:+447700900001', '+44-7700-900001'] },
      },
      asks(1, 1, 4),
    ],
    [
      'numbers that are none',
      {
        query: 'query ($l: [ID!]!) { phoneNumbers(e164s: $l) { lastSimSwap } }',
        variables: { l: ['1', '2', '1'] },
      },
      asks(2, 1, 3),
    ],
    [
      'a number that is an integer',
      {
        query: 'query ($l: [ID!]!) { phoneNumbers(e164s: $l) { lastSimSwap } }',
        variables: { l: [447_700_900_001] },
      },
      asks(1, 1, 1),
    ],
  ])('%s', (_, asked, expected) => {
    expect(count(asked)).toMatchObject(expected);
  });

  it.each<Row>([
    [
      'a window and its default are one question',
      {
        query: `{ phoneNumber(e164: "${A}") { a: simSwappedWithin b: simSwappedWithin(maxAgeHours: 240) } }`,
      },
      asks(1, 1, 2),
    ],
    [
      'a window by value and by variable is one question',
      {
        query: `query ($h: Int!) { phoneNumber(e164: "${A}") { a: simSwappedWithin(maxAgeHours: $h) b: simSwappedWithin(maxAgeHours: 24) } }`,
        variables: { h: 24 },
      },
      asks(1, 1, 2),
    ],
    [
      'a variable with a default stands for it',
      {
        query: `query ($h: Int! = 24) { phoneNumber(e164: "${A}") { a: simSwappedWithin(maxAgeHours: $h) b: simSwappedWithin(maxAgeHours: 24) } }`,
      },
      asks(1, 1, 2),
    ],
    [
      'a variable that is left out stands for the default of the field',
      {
        query: `query ($h: Int = 240) { phoneNumber(e164: "${A}") { a: simSwappedWithin(maxAgeHours: $h) b: simSwappedWithin } }`,
      },
      asks(1, 1, 2),
    ],
    [
      'two windows are two',
      {
        query: `{ phoneNumber(e164: "${A}") { a: simSwappedWithin(maxAgeHours: 1) b: simSwappedWithin(maxAgeHours: 2) } }`,
      },
      asks(1, 2, 2),
    ],
    [
      'a window that is refused is one question, however often',
      {
        query: `{ phoneNumber(e164: "${A}") { a: simSwappedWithin(maxAgeHours: 0) b: simSwappedWithin(maxAgeHours: 2) c: simSwapCheck(maxAgeHours: 9999) { result } } }`,
      },
      asks(1, 2, 4),
    ],
    [
      'numbers of which only refused windows are asked',
      { query: `{ phoneNumbers(e164s: ["${A}", "${B}"]) { simSwappedWithin(maxAgeHours: 0) } }` },
      asks(2, 1, 2),
    ],
    [
      'a window in two fields is one question',
      {
        query: `{ phoneNumber(e164: "${A}") { simSwappedWithin(maxAgeHours: 2) simSwapCheck(maxAgeHours: 2) { result } } }`,
      },
      asks(1, 1, 3),
    ],
    [
      'one number under two aliases has the questions of both',
      {
        query: `{ a: phoneNumber(e164: "${A}") { lastSimSwap } b: phoneNumber(e164: "tel:${A}") { simSwappedWithin } }`,
      },
      asks(1, 2, 2),
    ],
    [
      'two numbers have each their own',
      {
        query: `{ a: phoneNumber(e164: "${A}") { lastSimSwap } b: phoneNumber(e164: "${B}") { simSwappedWithin } }`,
      },
      asks(2, 1, 2),
    ],
    [
      'a number alone and in a list is one',
      {
        query: `{ phoneNumber(e164: "${A}") { lastSimSwap } phoneNumbers(e164s: ["${A}", "${B}"]) { simSwappedWithin } }`,
      },
      asks(2, 2, 3),
    ],
    [
      'equal questions under many aliases are one',
      {
        query: `{ ${repeat(50, (i) => `a${i}: phoneNumber(e164: "${A}") { b${i}: simSwappedWithin }`)} }`,
      },
      asks(1, 1, 50),
    ],
  ])('%s', (_, asked, expected) => {
    expect(count(asked)).toMatchObject(expected);
  });

  it.each<Row>([
    [
      'through an inline fragment',
      {
        query: `{ ... { phoneNumber(e164: "${A}") { ... { ... on PhoneNumber { lastSimSwap } } } } }`,
      },
      asks(1, 1, 1),
    ],
    [
      'through fragments of both types',
      {
        query: `{ ...Q } fragment Q on Query { phoneNumber(e164: "${A}") { ...P } } fragment P on PhoneNumber { lastSimSwap simSwappedWithin }`,
      },
      asks(1, 2, 2),
    ],
    [
      'through fragments in fragments',
      { query: `{ phoneNumber(e164: "${A}") { ...F0 } } ${chain(30)}` },
      asks(1, 30, 30),
    ],
    [
      'a fragment that is spread twice in one place once',
      { query: `{ phoneNumber(e164: "${A}") { ...F0 ...F0 ... { ...F0 } } } ${chain(3)}` },
      asks(1, 3, 3),
    ],
    [
      'a fragment that is spread in two places in both',
      {
        query: `{ a: phoneNumber(e164: "${A}") { ...F0 } b: phoneNumber(e164: "${B}") { ...F0 } } ${chain(3)}`,
      },
      asks(2, 3, 6),
    ],
    ['no fragment that is not spread', { query: `{ __typename } ${chain(3)}` }, asks(0, 0, 0)],
    [
      'a fragment that spreads itself only once',
      {
        query: `{ phoneNumber(e164: "${A}") { ...F } } fragment F on PhoneNumber { lastSimSwap ...F }`,
      },
      asks(1, 1, 1),
    ],
    [
      'no fragment that is missing',
      { query: `{ phoneNumber(e164: "${A}") { lastSimSwap ...Missing } }` },
      asks(1, 1, 1),
    ],
  ])('%s', (_, asked, expected) => {
    expect(count(asked)).toMatchObject(expected);
  });

  it.each<Row>([
    [
      '@skip leaves a field out',
      {
        query: `{ phoneNumber(e164: "${A}") { lastSimSwap @skip(if: true) simSwappedWithin @skip(if: false) } }`,
      },
      asks(1, 1, 1),
    ],
    [
      '@include leaves a field out',
      {
        query: `{ phoneNumber(e164: "${A}") { lastSimSwap @include(if: false) simSwappedWithin @include(if: true) } }`,
      },
      asks(1, 1, 1),
    ],
    [
      '@skip wins over @include',
      { query: `{ phoneNumber(e164: "${A}") { lastSimSwap @include(if: true) @skip(if: true) } }` },
      asks(0, 0, 1),
    ],
    [
      'a root field that is left out asks nothing',
      {
        query: `{ a: phoneNumber(e164: "${A}") @skip(if: true) { lastSimSwap } b: phoneNumber(e164: "${B}") { lastSimSwap } }`,
      },
      asks(1, 1, 1),
    ],
    [
      'a fragment that is left out asks nothing',
      {
        query: `{ phoneNumber(e164: "${A}") { ...F @include(if: false) ... @skip(if: true) { simSwappedWithin } e164 } } fragment F on PhoneNumber { lastSimSwap }`,
      },
      asks(0, 0, 1),
    ],
    [
      'a fragment that is left out once is read where it is not',
      {
        query: `{ phoneNumber(e164: "${A}") { ...F @skip(if: true) ...F } } fragment F on PhoneNumber { lastSimSwap }`,
      },
      asks(1, 1, 1),
    ],
    [
      'a variable decides',
      {
        query: `query ($yes: Boolean!, $no: Boolean = false) { phoneNumber(e164: "${A}") { lastSimSwap @include(if: $yes) simSwappedWithin @include(if: $no) } }`,
        variables: { yes: true },
      },
      asks(1, 1, 1),
    ],
  ])('%s', (_, asked, expected) => {
    expect(count(asked)).toMatchObject(expected);
  });
});

describe('what an operation of the subgraph asks', () => {
  const ENTITIES =
    'query ($r: [_Any!]!) { _entities(representations: $r) { ... on PhoneNumber { lastSimSwap simSwappedWithin } } }';

  it.each<readonly [string, readonly unknown[], Counted]>([
    ['representations', [of(A), of(B)], asks(2, 2, 4)],
    ['equal representations once', [of(A), of(A)], asks(1, 2, 4)],
    ['one number in two spellings once', [of(A), of(`tel:${A}`)], asks(1, 2, 4)],
    [
      'representations without a number, of which each is refused',
      [of(7), of(null), {}, 'text', 7, [], of(A)],
      asks(7, 2, 14),
    ],
    ['nothing', [], asks(0, 0, 0)],
  ])('%s', (_, r, expected) => {
    expect(count({ role: 'subgraph', query: ENTITIES, variables: { r } })).toMatchObject(expected);
  });

  it('representations under many aliases together', () => {
    const query = `query ($a: [_Any!]!, $b: [_Any!]!) {
      a: _entities(representations: $a) { ... on PhoneNumber { lastSimSwap } }
      b: _entities(representations: $b) { ... on PhoneNumber { simSwappedWithin } }
    }`;
    const variables = { a: [of(A)], b: [of(A), of(B)] };
    expect(count({ role: 'subgraph', query, variables })).toMatchObject(asks(2, 2, 3));
  });

  it('representations that are written into the document', () => {
    const query = `{ _entities(representations: [{ __typename: "PhoneNumber", e164: "${A}" }]) { ... on PhoneNumber { lastSimSwap } } }`;
    expect(count({ role: 'subgraph', query })).toMatchObject(asks(1, 1, 1));
  });
});

describe('variables that do not fit', () => {
  const QUERY = 'query ($l: [ID!]!) { phoneNumbers(e164s: $l) { lastSimSwap } }';

  it.each([
    ['nothing', {}],
    ['null', { l: null }],
    ['a null among them', { l: [A, null] }],
    ['an object', { l: {} }],
  ])('%s: left to the execution to refuse', (_, variables) => {
    expect(count({ query: QUERY, variables })).toBeUndefined();
  });
});

describe('the limits', () => {
  const limits = { maxNumbersPerOperation: 2, maxQuestionsPerNumber: 3, maxReplyBytes: 1000 };

  it.each([
    ['as many as may be', { ...asks(2, 3, 40), replyBytes: 1000 }, undefined],
    ['a number too many', asks(3, 1, 3), { limited: 'numbers', limit: 2, asked: 3 }],
    ['a question too many', asks(1, 4, 4), { limited: 'questionsPerNumber', limit: 3, asked: 4 }],
    ['an answer too many', asks(1, 1, 41), { limited: 'answers', limit: 40, asked: 41 }],
    [
      'a byte too many',
      { ...asks(1, 1, 1), replyBytes: 1001 },
      { limited: 'replyBytes', limit: 1000, asked: 1001 },
    ],
  ])('%s', (_, counted, excess) => {
    expect(maxAnswers(limits)).toBe(40);
    expect(excessOf({ replyBytes: 0, ...counted }, limits)).toEqual(excess);
  });

  it('tell by how much an operation is over, up to ten times as much', () => {
    const small = { ...NO_LIMITS, maxNumbersPerOperation: 2 };
    expect(count(dates(15), small)).toMatchObject({ numbers: 15 });
    expect(count(dates(500), small)).toMatchObject({ numbers: 21 });
    expect(count(dates(500))).toMatchObject({ numbers: 500 });
  });
});

/** The dates of so many numbers. */
function dates(length: number) {
  return {
    query: 'query ($l: [ID!]!) { phoneNumbers(e164s: $l) { lastSimSwap } }',
    variables: { l: Array.from({ length }, (_, i) => numberOf(i)) },
  };
}

function of(e164: unknown) {
  return { __typename: 'PhoneNumber', e164 };
}

/** Fragments of which each asks for a window and spreads the next. */
function chain(length: number): string {
  return repeat(
    length,
    (i) =>
      `fragment F${i} on PhoneNumber { w${i}: simSwappedWithin(maxAgeHours: ${i + 1}) ${i + 1 < length ? `...F${i + 1}` : ''} }`,
  );
}

function repeat(times: number, part: (index: number) => string): string {
  return Array.from({ length: times }, (_, index) => part(index)).join(' ');
}

function numberOf(index: number): string {
  return `+447700900${String(500 + index)}`;
}
