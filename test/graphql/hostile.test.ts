import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  costs,
  PATIENT,
  startSimulated,
  type Reply,
  type SimulatedService,
} from '../support/service.ts';

const FREE = { tokens: 0, lookups: 0 };

const bff = await startSimulated({
  ROLE: 'bff',
  MAX_NUMBERS_PER_OPERATION: '3',
  MAX_QUESTIONS_PER_NUMBER: '2',
});
const subgraph = await startSimulated({ ROLE: 'subgraph', ...PATIENT });
const wide = await startSimulated({ ROLE: 'bff' });
beforeEach(() => {
  bff.simulator.resetStats();
  subgraph.simulator.resetStats();
});
afterAll(() => Promise.all([bff.stop(), subgraph.stop(), wide.stop()]));

const A = '+447700900001';
const NEVER_SWAPPED = (count: number) => parts(count, (i) => `+447700900${500 + i}`);
const ONE = `phoneNumber(e164: "${A}")`;
const list = (count: number) => `phoneNumbers(e164s: ${JSON.stringify(NEVER_SWAPPED(count))})`;
const entities = (fields: string) =>
  `_entities(representations: $r) { ... on PhoneNumber { ${fields} } }`;

describe('an operation above a limit is one error, without a lookup', () => {
  it.each([
    [
      'numbers under aliases',
      aliases(4, (i) => `phoneNumber(e164: "+44770090050${i}") { lastSimSwap }`),
      { limited: 'numbers', limit: 3, asked: 4 },
    ],
    [
      'numbers in a list and by themselves',
      `${list(3)} { lastSimSwap } ${ONE} { lastSimSwap }`,
      { limited: 'numbers', limit: 3, asked: 4 },
    ],
    [
      'windows and the date',
      `${ONE} { lastSimSwap ${aliases(2, (i) => `simSwappedWithin(maxAgeHours: ${i + 1})`)} }`,
      { limited: 'questionsPerNumber', limit: 2, asked: 3 },
    ],
    [
      'equal answers',
      `${ONE} { ${aliases(49, () => 'simSwappedWithin')} }`,
      { limited: 'answers', limit: 48, asked: 49 },
    ],
    [
      'answers without a question',
      `${list(25)} { e164 __typename }`,
      { limited: 'answers', limit: 48, asked: 50 },
    ],
    [
      'answers about nobody',
      aliases(7, () => `phoneNumbers(e164s: []) { ${aliases(7, () => 'e164')} }`),
      { limited: 'answers', limit: 48, asked: 49 },
    ],
  ])('%s', async (_, query, excess) => {
    const reply = await bff.ask(`{ ${query} }`);
    expect(reply.status).toBe(200);
    expect(reply.data).toBeUndefined();
    expect(reply.errors).toEqual([
      {
        message: expect.stringMatching(
          new RegExp(`^One operation may .*\\b${excess.limit}\\b.*\\b${excess.asked}\\b`),
        ),
        extensions: { code: 'LOOKUP_LIMIT_EXCEEDED', ...excess },
      },
    ]);
    expect(costs(bff)).toEqual(FREE);
  });

  it('an empty list below fragments in fragments', async () => {
    const query = `query ($l: [ID!]!) { ${aliases(56, () => 'phoneNumbers(e164s: $l) { ...F }')} }
      fragment F on PhoneNumber { ${aliases(75, () => 'simSwapCheck { ...C }')} }
      fragment C on SimSwapCheck { ${'asOf '.repeat(500)} }`;
    const reply = await bff.ask(query, { l: [] });
    expect(reply.errors).toMatchObject([{ extensions: { limited: 'answers', limit: 48 } }]);
    expect(costs(bff)).toEqual(FREE);
  });

  it.each([
    // The first is refused for its document.
    [500, 300, 'GRAPHQL_PARSE_FAILED'],
    [100, 300, 'LOOKUP_LIMIT_EXCEEDED'],
    [1, 101, 'LOOKUP_LIMIT_EXCEEDED'],
  ])('%i aliases × %i representations: %s', async (aliasCount, representationCount, code) => {
    const query = `query ($r: [_Any!]!) { ${aliases(aliasCount, () => '_entities(representations: $r) { ...F }')} }
      fragment F on PhoneNumber { simSwappedWithin }`;
    const reply = await subgraph.ask(query, { r: NEVER_SWAPPED(representationCount).map(of) });
    expect(reply.codes).toEqual([code]);
    expect(costs(subgraph)).toEqual(FREE);
  });

  it.each([
    ['spellings of one number', parts(400, (i) => of(`+44${' '.repeat(i)}7700900001`))],
    ['invalid representations', parts(1500, () => ({}))],
  ])('40 aliases × many %s', async (_, r) => {
    const query = `query ($r: [_Any!]!) { ${aliases(40, () => entities('simSwappedWithin'))} }`;
    const reply = await subgraph.ask(query, { r });
    expect(reply.codes).toEqual(['LOOKUP_LIMIT_EXCEEDED']);
    expect(costs(subgraph)).toEqual(FREE);
  });
});

it('errors in a document of many lines, which are counted for each, are few', async () => {
  const failing =
    'query ($l: [ID!]!) { phoneNumbers(e164s: $l) { simSwappedWithin(maxAgeHours: -1) } }';
  const longest = '\r\n'.repeat(9999) + failing;
  const before = process.cpuUsage();
  const most = await wide.ask(longest, { l: NEVER_SWAPPED(25) });
  expect(most.errors).toHaveLength(25);
  expect(most.text).toContain('"locations":[{"line":10000,"column":48}]');
  expect((await wide.ask(longest, { l: NEVER_SWAPPED(26) })).errors).toMatchObject([
    { extensions: { code: 'LOOKUP_LIMIT_EXCEEDED', limited: 'answers', limit: 25, asked: 26 } },
  ]);
  expect((await wide.ask(`\n${longest}`, { l: [] })).errors).toMatchObject([
    { message: 'A document may have 10,000 lines at most.', extensions: { code: 'BAD_REQUEST' } },
  ]);
  // 2,000 errors in 170,000 lines took 17 s.
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
});

describe('an operation at the limits is answered', () => {
  it('3 numbers, 2 questions each, each four times, with everything beside', async () => {
    const query = `query ($l: [ID!]!) { ${aliases(4, () => 'phoneNumbers(e164s: $l) { __typename e164 lastSimSwap simSwappedWithin }')} }`;
    const reply = await bff.ask(query, { l: NEVER_SWAPPED(3) });
    expect(reply.errors).toEqual([]);
    expect(reply.data.a3[2]).toMatchObject({ e164: '+447700900502', simSwappedWithin: false });
    expect(costs(bff)).toEqual({ tokens: 3, lookups: 3 });
  });

  it('100 representations', async () => {
    const query = `query ($r: [_Any!]!) { ${entities('simSwappedWithin')} }`;
    const reply = await subgraph.ask(query, { r: NEVER_SWAPPED(100).map(of) });
    expect(reply.errors).toEqual([]);
    expect(reply.data._entities).toHaveLength(100);
    expect(costs(subgraph)).toEqual({ tokens: 100, lookups: 100 });
  });
});

describe('a document', () => {
  it.each([
    ['of 2,000 tokens is read', 1988, 'LOOKUP_LIMIT_EXCEEDED', /more than 480\b/],
    ['of 2,001 tokens is refused', 1989, 'GRAPHQL_PARSE_FAILED', /more that 2000 tokens/],
  ])('%s', async (_, strings, code, words) => {
    const query = `{ phoneNumbers(e164s: [${'"" '.repeat(strings)}]) { __typename } }`;
    const { errors } = await bff.ask(query);
    expect(errors).toMatchObject([{ message: expect.stringMatching(words), extensions: { code } }]);
  });

  it.each([
    ['inline fragments', nestedInline(19)],
    ['named fragments', nestedNamed(19)],
  ])('of 20 levels is answered: %s', async (_, query) => {
    const reply = await bff.ask(query);
    expect(reply.errors).toEqual([]);
    expect(reply.data).toEqual({ __typename: 'Query' });
  });

  it.each([
    ['of inline fragments, 21 levels', nestedInline(20)],
    ['of inline fragments, 600 levels', nestedInline(600)],
    ['of named fragments, 21 levels', nestedNamed(20)],
    ['of named fragments, 200 levels', nestedNamed(200)],
    ['of a circle of 200 named fragments', comparedFragments(200)],
    ['of fields', `{ __schema { types { ${'ofType { '.repeat(200)} name ${'} '.repeat(200)} } } }`],
    [
      'in the second of two operations',
      `query A { __typename } ${nestedInline(20).replace('{', 'query B {')}`,
    ],
  ])('nested too deep is refused: %s', async (_, query) => {
    const reply = await bff.ask(query);
    expect(reply.status).toBe(400);
    expect(reply.errors).toContainEqual({
      message: 'An operation may nest 20 levels at most, fragments included.',
      locations: [{ line: 1, column: expect.any(Number) }],
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
    });
  });

  it.each([
    [
      'below a list',
      '{ __schema { types { ...T } } } fragment T on __Type { fields { type { ...T } } }',
    ],
    ['that nothing spreads', '{ __typename } fragment T on __Type { ofType { ...T } }'],
    ['without an operation', 'fragment F on Query { ...F }'],
    ['of one', '{ ...F } fragment F on Query { __typename ...F }'],
    ['of two', '{ ...F } fragment F on Query { ...G } fragment G on Query { ...F }'],
    ['that is missing', '{ ...F }'],
    [
      'of a hundred fragments',
      `{ ...F0 } ${parts(100, (i) => `fragment F${i} on Query { __typename ...F${(i + 1) % 100} ...F${(i + 7) % 100} }`).join(' ')}`,
    ],
    [
      'that conflict',
      '{ ...A ...B } fragment A on Query { x: phoneNumber(e164: "1") { ...C } ...B } fragment B on Query { x: phoneNumber(e164: "2") { ...D } ...A } fragment C on PhoneNumber { e164 ...D } fragment D on PhoneNumber { ...C e164: simSwappedWithin }',
    ],
  ])('with fragments in a cycle %s is refused by both roles with 400', async (_, query) => {
    for (const service of [bff, subgraph]) {
      const reply = await service.ask(query);
      expect(reply.status).toBe(400);
      expect(new Set(reply.codes)).toEqual(new Set(['GRAPHQL_VALIDATION_FAILED']));
    }
  });

  it('that repeats one field too often is refused with what to do', async () => {
    const { errors } = await bff.ask(`{ ${'__typename '.repeat(1900)}}`);
    const message = 'The document repeats the same fields too often. Query each once.';
    expect(errors).toMatchObject([{ message, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }]);
  });

  it.each([
    [
      'every pair',
      `{ phoneNumber(e164: "${A}") { ${parts(240, (i) => `a: simSwappedWithin(maxAgeHours: ${i})`).join(' ')} } }`,
    ],
    [
      'nested fragments',
      `{ ...F0 ...F1 } ${parts(100, (i) => `fragment F${i} on Query { a: ${i % 2 === 0 ? '__typename' : '__schema { description }'} ...F${(i + 1) % 100} }`).join(' ')}`,
    ],
  ])('whose fields conflict in %s has a bounded list of errors', async (_, query) => {
    const reply = await bff.ask(query);
    expect(reply.status).toBe(400);
    expect(reply.errors.length).toBeLessThanOrEqual(101);
    expect(reply.codes).not.toContain('INTERNAL_SERVER_ERROR');
  });
});

describe('variables', () => {
  const LIST = 'query ($l: [ID!]!) { phoneNumbers(e164s: $l) { e164 } }';

  it.each([
    ['a list of 30 nulls', `{"l":[${'null,'.repeat(29)}null]}`],
    ['a list nested 500 deep', `{"l":${nestedList(500)}}`],
    ['an object nested 500 deep', `{"l":${nestedObject(500)}}`],
    ['objects in a list', `{"l":[{"e164":"${A}"}]}`],
  ])('that do not fit are refused with a bounded list of errors: %s', async (_, variables) => {
    const reply = await askRaw(bff, LIST, variables);
    expect(reply.status).toBe(400);
    expect(reply.errors.length).toBeGreaterThan(0);
    expect(reply.errors.length).toBeLessThanOrEqual(51);
    expect(new Set(reply.codes)).toEqual(new Set(['BAD_USER_INPUT']));
    expect(reply.text).not.toContain(A);
  });

  const INT = `($v: Int = 240) { ${ONE} { simSwappedWithin(maxAgeHours: $v) } }`;
  const BOOLEAN = '($v: Boolean = true)';
  it.each<[query: string, data: object | null | undefined]>([
    [INT, { phoneNumber: { simSwappedWithin: null } }],
    ['($v: ID = "") { phoneNumber(e164: $v) { e164 } }', { phoneNumber: null }],
    ['($v: [ID!] = []) { phoneNumbers(e164s: $v) { e164 } }', null],
    ['($v: ID = "") { phoneNumbers(e164s: [$v]) { e164 } }', null],
    ['($v: [_Any!] = []) { _entities(representations: $v) { __typename } }', null],
    ['($v: _Any = 1) { _entities(representations: [$v]) { __typename } }', null],
    ['($v: String = "") { __type(name: $v) { name } }', { __type: null }],
    [`${BOOLEAN} { ${ONE} { e164 @skip(if: $v) __typename } }`, undefined],
    [`${BOOLEAN} { ${ONE} @include(if: $v) { e164 } }`, undefined],
    [`${BOOLEAN} { ... @skip(if: $v) { __typename } }`, undefined],
  ])(
    'that are null where their type allows it and their place does not: %s',
    async (query, data) => {
      const service = query.includes('_entities') ? subgraph : bff;
      const logged = service.logged.length;
      const reply = await service.ask(`query ${query}`, { v: null });
      expect(reply.codes).toEqual(['BAD_USER_INPUT']);
      expect(reply.data).toEqual(data);
      expect(service.logged.slice(logged)).toEqual([]);
      expect(costs(service)).toEqual(FREE);
    },
  );

  it('of 250,000 characters are refused with a short message', async () => {
    const reply = await bff.ask('query ($e: ID!) { phoneNumber(e164: $e) { e164 } }', {
      e: `+${'1'.repeat(250_000)}`,
    });
    expect(reply.codes).toEqual(['BAD_USER_INPUT']);
    expect(reply.text.length).toBeLessThan(1000);
  });

  it('that are not declared change nothing', async () => {
    const variables = `{"__proto__":{"l":1},"constructor":1,"deep":${nestedObject(500)}}`;
    const reply = await askRaw(bff, '{ __typename }', variables);
    expect(reply.data).toEqual({ __typename: 'Query' });
  });

  it('with a representation nested 3,000 deep fail only for this one', async () => {
    const query = 'query ($r: [_Any!]!) { _entities(representations: $r) { __typename } }';
    const variables = `{"r":[${nestedObject(3000)},${JSON.stringify(of(A))}]}`;
    const reply = await askRaw(subgraph, query, variables);
    expect(reply.data).toEqual({ _entities: [null, { __typename: 'PhoneNumber' }] });
    expect(reply.codes).toEqual(['BAD_USER_INPUT']);
  });
});

describe('a body', () => {
  it.each([
    ['a list nested 500 deep', nestedList(500), 400],
    ['a list nested 130,000 deep', nestedList(130_000), 413],
    ['an object nested 500 deep, in the body', `{"a":${nestedObject(500)}}`, 400],
    ['an object nested 40,000 deep', nestedObject(40_000), 413],
    ['a list that never ends', '['.repeat(500), 400],
  ])('%s is refused, and the next request is answered', async (_, body, status) => {
    const reply = await bff.send('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(reply.status).toBe(status);
    expect(reply.errors).toHaveLength(1);
    expect((await bff.ask('{ __typename }')).data).toEqual({ __typename: 'Query' });
  });
});

function of(e164: string) {
  return { __typename: 'PhoneNumber', e164 };
}

function parts<T>(count: number, part: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => part(index));
}

function aliases(count: number, field: (index: number) => string): string {
  return parts(count, (i) => `a${i}: ${field(i)}`).join(' ');
}

/** The operation's own level, and so many below. */
function nestedInline(levels: number): string {
  return `{ ${'... { '.repeat(levels)} __typename ${'} '.repeat(levels)}}`;
}

/** A circle of fragments, two of which are spread side by side: graphql-js would compare each with each. */
function comparedFragments(count: number): string {
  const circle = Array.from(
    { length: count },
    (_, index) => `fragment F${index} on PhoneNumber { e164 ...F${(index + 1) % count} }`,
  );
  return `{ ... on Nobody { name ... { e164: name ...F1 } ...F0 } } ${circle.join(' ')}`;
}

function nestedNamed(levels: number): string {
  const fragments = parts(levels, (i) => {
    const inside = i + 1 < levels ? `...F${i + 1}` : '__typename';
    return `fragment F${i} on Query { ${inside} }`;
  });
  return `{ ...F0 } ${fragments.join(' ')}`;
}

function nestedList(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

function nestedObject(depth: number): string {
  return `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
}

/** For variables that JSON.stringify could not write. */
function askRaw(service: SimulatedService, query: string, variables: string): Promise<Reply> {
  return service.send('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
  });
}
