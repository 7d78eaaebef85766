import fc from 'fast-check';
import { assertObjectType, getIntrospectionQuery, getOperationAST, parse } from 'graphql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RequestContext } from '../../src/graphql/request.ts';
import type { FieldQuestion } from '../../src/domain/fields.ts';
import { ERRORS, type LookupFailure, type LookupFailureCode } from '../../src/domain/errors.ts';
import { createApolloServer } from '../../src/graphql/apollo.ts';
import { costOf, mostOf } from '../../src/graphql/operationCost.ts';
import { isMeasured } from '../../src/graphql/replyBytes.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import type { FieldAnswer } from '../../src/lookups/executor.ts';
import { costs, startSimulated, type SimulatedService } from '../service.ts';
import { silentLog } from '../silentLog.ts';
import { requestAnswering } from './requestAnswering.ts';

const MAX_REPLY_BYTES = 2_000_000;
const FREE = { tokens: 0, lookups: 0 };

let bff: SimulatedService;
let subgraph: SimulatedService;

beforeAll(async () => {
  [bff, subgraph] = await Promise.all([
    startSimulated({ ROLE: 'bff' }),
    startSimulated({ ROLE: 'subgraph' }),
  ]);
});
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
      { l: parts(4800, () => A) },
    ]),
    [
      'paths of errors',
      `query ($l: [ID!]!) { ${long(50_000)}: phoneNumbers(e164s: $l) { e164 } }`,
      { l: parts(4800, () => 'none') },
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
      { r: parts(2000, () => ({ __typename: 'PhoneNumber', e164: A })) },
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

  it.each(['bff', 'subgraph'] as const)('but tools may introspect the %s', async (role) => {
    const service = role === 'bff' ? bff : subgraph;
    const reply = await service.ask(
      getIntrospectionQuery({ inputValueDeprecation: true, oneOf: true }),
    );
    expect(reply.errors).toEqual([]);
  });

  it('and a page of 100 numbers with every question is answered, and so are 3,000 bad numbers', async () => {
    const windows = parts(9, (i) => `w${i}: simSwappedWithin(maxAgeHours: ${i + 1})`).join(' ');
    const consent = 'simSwapConsent { state retryAfterSeconds expiresAt }';
    const page = await bff.ask(`${LIST} { e164 lastSimSwap ${windows} ${consent} } }`, {
      l: LINES,
    });
    expect(page.errors).toEqual([]);

    const bad = await bff.ask(`${LIST} { e164 } }`, { l: parts(3000, () => 'none') });
    expect(bad.errors).toHaveLength(3000);
    expect(new Set(bad.codes)).toEqual(new Set(['BAD_USER_INPUT']));
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
    ['a field that there is not', `{ ${parts(100, () => long(2000)).join(' ')} }`, {}],
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

const LIMITS = { maxNumbersPerOperation: 1e6, maxQuestionsPerNumber: 1e6, maxReplyBytes: 1e9 };

const FIELD_CODES = Object.entries<{ places: readonly string[] }>(ERRORS)
  .filter(([, { places }]) => places.includes('field'))
  .map(([code]) => code as LookupFailureCode);

/** Every third answer fails. */
function longWindedContext(): RequestContext {
  const epochMs = 1_900_000_000_000;
  const latestSimChange = { text: '2026-03-14T10:26:53.123456789+01:00', epochMs };
  let count = 0;
  const answerTo = (_number: string, asked: FieldQuestion): FieldAnswer => {
    count += 1;
    const code = FIELD_CODES[count % (3 * FIELD_CODES.length)];
    if (code !== undefined && asked.asks !== 'consent') {
      return { kind: 'failure', failure: longestFailure(code) };
    }
    switch (asked.asks) {
      case 'date':
        return { kind: 'date', latestSimChange, asOfMs: epochMs, from: [] };
      case 'window':
        return { kind: 'window', swapped: false, asOfMs: epochMs, from: [] };
      case 'consent':
        return {
          kind: 'consent',
          consent: { state: 'NOT_NEEDED', retryAfterSeconds: 86_400, expiresAtMs: epochMs },
        };
    }
  };
  const request = requestAnswering(answerTo, {
    correlator: long(300),
    config: { limits: LIMITS, docsUrl: `https://${long(92)}` },
  });
  return { request };
}

/** With everything that may stand beside its code. */
function longestFailure(code: LookupFailureCode): LookupFailure {
  return {
    code,
    reach: 'number',
    retryAfterSeconds: 86_400,
    ...(code === 'CONSENT_PENDING' ? { expiresAtMs: 1_900_000_000_000 } : {}),
    ...(code === 'RATE_LIMITED' ? { quota: 'prompts' } : {}),
    ...(code === 'PERIOD_NOT_SUPPORTED' ? { maxAgeHours: 2400 } : {}),
  };
}

const ALIAS = fc
  .tuple(fc.constantFrom('a', 'b'), fc.integer({ min: 0, max: 300 }), fc.nat())
  .map(([letter, length, rest]) => `${letter.repeat(length + 1)}${rest}: `);
const aliased = (fields: fc.Arbitrary<string>) =>
  fc.tuple(ALIAS, fields).map((two) => two.join(''));
const selection = (fields: fc.Arbitrary<string>) =>
  fc.array(aliased(fields), { minLength: 1, maxLength: 8 }).map((all) => `{ ${all.join(' ')} }`);

const CONSENT_FIELDS = selection(
  fc.constantFrom('state', 'retryAfterSeconds', 'expiresAt', '__typename'),
).map((below) => `simSwapConsent ${below}`);
const CHECK_FIELDS = selection(
  fc.constantFrom('result', 'reason', 'retryAfterSeconds', 'expiresAt', 'maxAgeHours', 'asOf'),
).map((below) => `simSwapCheck ${below}`);
const NUMBER_FIELDS = selection(
  fc.oneof(
    fc.constantFrom('e164', '__typename', 'lastSimSwap', 'simSwappedWithin(maxAgeHours: $null)'),
    fc.integer({ min: -1, max: 2402 }).map((hours) => `simSwappedWithin(maxAgeHours: ${hours})`),
    CONSENT_FIELDS,
    CHECK_FIELDS,
  ),
);
const TYPE_FIELDS = fc.constantFrom(
  'name description',
  'fields { name description args { name defaultValue type { name ofType { kind } } } }',
  'enumValues { name description } __typename',
  'possibleTypes { name } interfaces { name } inputFields { name }',
);
const KNOWN_FIELDS = fc.oneof(
  TYPE_FIELDS.map((below) => `__schema { types { ${below} } directives { name locations } }`),
  TYPE_FIELDS.map((below) => `__type(name: "PhoneNumber") { ${below} }`),
  fc.constant('__typename'),
);
const NUMBERS = fc.array(fc.constantFrom(A, 'none', '0044', '+44(0)7700900500', '+44x'), {
  maxLength: 12,
});

const OPERATIONS = {
  bff: selection(
    fc.oneof(
      fc
        .tuple(NUMBERS, NUMBER_FIELDS)
        .map(([l, below]) => `phoneNumbers(e164s: ${JSON.stringify(l)}) ${below}`),
      NUMBER_FIELDS.map((below) => `phoneNumbers(e164s: [$id, "${long(500)}"]) ${below}`),
      NUMBER_FIELDS.map((below) => `phoneNumber(e164: "${A}") ${below}`),
      NUMBER_FIELDS.map((below) => `myPhoneNumber ${below}`),
      KNOWN_FIELDS,
    ),
  ),
  subgraph: selection(
    fc.oneof(
      fc
        .tuple(NUMBERS, NUMBER_FIELDS)
        .map(
          ([l, below]) =>
            `_entities(representations: [${l.map((e164) => `{__typename: "PhoneNumber", e164: "${e164}"}`).join(' ')} 7]) { ... on PhoneNumber ${below} }`,
        ),
      fc.constant('_service { sdl }'),
      KNOWN_FIELDS,
    ),
  ),
};

/** GraphQL refuses variables that nothing uses. */
const START = {
  bff: 'query ($null: Int = 1, $id: ID = "") { u: phoneNumber(e164: $id) { u: simSwappedWithin(maxAgeHours: $null) }',
  subgraph:
    'query ($null: Int = 1) { u: _entities(representations: []) { ... on PhoneNumber { u: simSwappedWithin(maxAgeHours: $null) } }',
};

describe('the size that is counted', () => {
  it('knows every field below a number', () => {
    const schema = createSchema('bff');
    const types = ['PhoneNumber', 'SimSwapCheck', 'SimSwapConsent'].map((name) =>
      schema.getType(name),
    );
    const fields = types.flatMap((type) => Object.keys(assertObjectType(type).getFields()));
    expect(fields.filter((name) => !isMeasured(name))).toEqual([]);
    expect(fields).toContain('asOf');
  });

  it.each(['bff', 'subgraph'] as const)('is never less than the reply of the %s', async (role) => {
    const server = createApolloServer({ role, production: false, limits: LIMITS }, silentLog);
    const schema = createSchema(role);
    await server.start();
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(OPERATIONS[role], async (selected) => {
        const query = `${START[role]} ... ${selected} }`;
        const { body } = await server.executeOperation(
          { query, variables: { null: null, id: null } },
          { contextValue: longWindedContext() },
        );
        if (body.kind !== 'single') throw new Error('A query has a single result.');
        fc.pre(body.singleResult.data !== undefined);

        const document = parse(query);
        const operation = getOperationAST(document);
        if (operation === null || operation === undefined) throw new Error('No operation.');
        const variables = { null: null, id: null };
        const incoming = { schema, document, operation, variables };
        const cost = costOf(incoming, mostOf(LIMITS));
        const bytes = Buffer.byteLength(JSON.stringify(body.singleResult));
        expect(cost?.replyBytes).toBeGreaterThanOrEqual(bytes);
        if ((body.singleResult.errors ?? []).length < 100) compared += 1;
      }),
      { numRuns: 300 },
    );
    expect(compared).toBeGreaterThan(100);
    await server.stop();
  });
});

function parts<T>(count: number, part: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => part(index));
}

function long(length: number): string {
  return 'a'.repeat(length);
}
