import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Role } from '../../src/graphql/typeDefs.ts';
import { costs, startSimulated } from '../support/service.ts';

const MAX_REPLY_BYTES = 2_000_000;
const FREE = { tokens: 0, lookups: 0 };

const bff = await startSimulated({ ROLE: 'bff' });
const subgraph = await startSimulated({ ROLE: 'subgraph' });
beforeEach(() => {
  bff.simulator.resetStats();
  subgraph.simulator.resetStats();
});
afterAll(() => Promise.all([bff.stop(), subgraph.stop()]));

const A = '+447700900500';
const LINES = parts(100, (i) => `+447700900${500 + i}`);
const LIST = 'query ($l: [ID!]!) { phoneNumbers(e164s: $l)';

describe('a reply that could be too long is refused before anything is looked up', () => {
  const ENTITIES = 'query ($r: [_Any!]!) { _entities(representations: $r)';
  it.each<[string, string, object]>([
    [
      'fields below simSwapConsent',
      `${LIST} { simSwapConsent { ${parts(40, (i) => `${long(2000)}${i}: state`).join(' ')} } } }`,
      { l: LINES },
    ],
    ...[10_000, 90_000].map((length): [string, string, object] => [
      `numbers that come again, under an alias of ${length} letters`,
      `${LIST} { ${long(length)}: e164 } }`,
      { l: parts(1000, () => A) },
    ]),
    [
      'paths of errors',
      `query ($l: [ID!]!) { ${long(50_000)}: phoneNumbers(e164s: $l) { e164 } }`,
      { l: parts(1000, () => 'none') },
    ],
    [
      'paths of errors of fields',
      `query ($l: [ID!]!) { ${long(20_000)}: phoneNumbers(e164s: $l) { simSwappedWithin(maxAgeHours: 0) } }`,
      { l: LINES },
    ],
    ['an alias below __schema', `{ __schema { types { fields { ${long(200_000)}: name } } } }`, {}],
    [
      'an alias below __type',
      `{ __type(name: "__Type") { fields { ${long(120_000)}: name ${long(120_001)}: name } } }`,
      {},
    ],
    [
      'descriptions',
      `{ __schema { types { ${parts(480, (i) => `a${i}: description`).join(' ')} } } }`,
      {},
    ],
    ['the SDL', `{ _service { ${parts(600, (i) => `a${i}: sdl`).join(' ')} } }`, {}],
    [
      'representations',
      `${ENTITIES} { __typename ... on PhoneNumber { ${long(90_000)}: e164 } } }`,
      { r: parts(1000, () => ({ __typename: 'PhoneNumber', e164: A })) },
    ],
  ])('%s', async (_, query, variables) => {
    const service = /_entities|_service/.test(query) ? subgraph : bff;
    const reply = await service.ask(query, variables);
    expect(reply.errors).toEqual([
      {
        message: expect.stringMatching(/^A reply may have 2,000,000 bytes; the reply to this/),
        extensions: {
          code: 'LOOKUP_LIMIT_EXCEEDED',
          limited: 'replyBytes',
          limit: MAX_REPLY_BYTES,
          asked: expect.any(Number),
        },
      },
    ]);
    expect(reply.errors[0]?.extensions?.['asked']).toBeGreaterThan(MAX_REPLY_BYTES);
    expect(reply.text.length).toBeLessThan(500);
    expect(costs(service)).toEqual(FREE);
  });

  it.each(['bff', 'subgraph'] as const)('tools may introspect the %s', async (role) => {
    const service = role === 'bff' ? bff : subgraph;
    const reply = await service.ask(
      getIntrospectionQuery({ inputValueDeprecation: true, oneOf: true }),
    );
    expect(reply.errors).toEqual([]);
  });

  it('a page of 100 numbers with every question is answered', async () => {
    const windows = parts(9, (i) => `w${i}: simSwappedWithin(maxAgeHours: ${i + 1})`).join(' ');
    const consent = 'simSwapConsent { state retryAfterSeconds expiresAt }';
    const page = await bff.ask(`${LIST} { e164 lastSimSwap ${windows} ${consent} } }`, {
      l: LINES,
    });
    expect(page.errors).toEqual([]);
  });
});

describe('1,000 invalid numbers', () => {
  // A stack written out for each took longer than the rest of the request: half a second in one go.
  it.each<[string, Role, string]>([
    ['numbers', 'bff', 'query ($l: [ID!]!) { phoneNumbers(e164s: $l) { e164 } }'],
    [
      'representations',
      'subgraph',
      'query ($l: [_Any!]!) { _entities(representations: $l) { __typename } }',
    ],
  ])('make no stack traces: %s', async (_, role, query) => {
    const service = role === 'bff' ? bff : subgraph;
    let stacks = 0;
    const before: unknown = Reflect.get(Error, 'prepareStackTrace');
    Error.prepareStackTrace = (_error, frames) => {
      if (frames.length > 0) stacks += 1;
      return '';
    };
    try {
      const reply = await service.ask(query, { l: parts(1000, () => 'none') });
      expect(reply.codes).toEqual(parts(1000, () => 'BAD_USER_INPUT'));
    } finally {
      Reflect.set(Error, 'prepareStackTrace', before);
    }
    expect(stacks).toBeLessThan(100);
  });
});

describe('an error that quotes the document is cut', () => {
  it.each<[string, string, object]>([
    [
      'the name of a variable',
      `query ($${long(100_000)}: [ID!]!) { phoneNumbers(e164s: $${long(100_000)}) { e164 } }`,
      { [long(100_000)]: parts(100, () => null) },
    ],
    [
      'the name of an operation',
      `query ${long(200_000)} { ${parts(100, (i) => `a${i}: phoneNumber(e164: $x${i}) { e164 }`).join(' ')} }`,
      {},
    ],
    ['a field that does not exist', `{ ${parts(100, () => long(2000)).join(' ')} }`, {}],
    ['a name in the wrong place', `{ __typename } ${long(200_000)}`, {}],
    [
      'a list with null in it',
      `query ($n: ID = "") { phoneNumbers(e164s: [$n, ${`"${long(1000)}" `.repeat(200)}]) { e164 } }`,
      { n: null },
    ],
  ])('%s', async (_, query, variables) => {
    const reply = await bff.ask(query, variables);
    expect(reply.errors.length).toBeGreaterThan(0);
    expect(reply.text.length).toBeLessThan(20_000);
    expect(reply.codes).not.toContain('INTERNAL_SERVER_ERROR');
  });
});

function parts<T>(count: number, part: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => part(index));
}

function long(length: number): string {
  return 'a'.repeat(length);
}
