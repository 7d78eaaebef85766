import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { costs, startSimulated, type Reply, type SimulatedService } from '../support/service.ts';
import { TestIssuer } from './testIssuer.ts';

const SCOPE = 'sim-swap:batch';
const READ = 'sim-swap:read';

/** Numbers whose SIM never changed. */
const [ONE, TWO, THREE] = ['+447700900500', '+447700900501', '+447700900502'];
const ONE_AGAIN = 'tel:+44 7700-900500';
const TWO_NUMBERS = { e164s: [ONE, TWO] };

const BY_ARGUMENT = 'query ($e164s: [ID!]!) { phoneNumbers(e164s: $e164s) { simSwappedWithin } }';
const BY_KEY = `query ($representations: [_Any!]!) {
  _entities(representations: $representations) { ... on PhoneNumber { simSwappedWithin } }
}`;

const issuer = await TestIssuer.start();
const guarded = { ...issuer.settings, BATCH_SCOPE: SCOPE };
const open = await startSimulated(issuer.settings);
const bff = await startSimulated(guarded);
const subgraph = await startSimulated({ ...guarded, ROLE: 'subgraph' });
afterAll(async () => {
  await Promise.all([open, bff, subgraph].map((service) => service.stop()));
  await issuer.close();
});

beforeEach(() => {
  for (const { simulator } of [open, bff, subgraph]) simulator.resetStats();
});

async function ask(
  service: SimulatedService,
  scope: string,
  query: string,
  variables: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const token = await issuer.token({ sub: 'desk', scope });
  return service.ask(query, variables, { authorization: `Bearer ${token}`, ...headers });
}

function representation(e164: unknown): object {
  return { __typename: 'PhoneNumber', e164 };
}

function representationsOf(...numbers: readonly unknown[]): object {
  return { representations: numbers.map(representation) };
}

const MANY_ALIASES = `{
  a: phoneNumber(e164: "${ONE}") { simSwappedWithin lastSimSwap }
  b: phoneNumber(e164: "${ONE_AGAIN}") { simSwappedWithin(maxAgeHours: 24) }
  c: phoneNumbers(e164s: ["${ONE}", "${ONE}"]) { simSwapCheck { result } simSwapConsent { state } }
}`;

/** Operations about several numbers, by every way to name a number. */
const SEVERAL: readonly [what: string, query: string, variables?: object][] = [
  ['a list', BY_ARGUMENT, TWO_NUMBERS],
  [
    'aliases',
    `{ a: phoneNumber(e164: "${ONE}") { lastSimSwap } b: phoneNumber(e164: "${TWO}") { simSwappedWithin } }`,
  ],
  [
    'fragments',
    `{ ...A ...B }
      fragment A on Query { phoneNumber(e164: "${ONE}") { lastSimSwap } }
      fragment B on Query { b: phoneNumber(e164: "${TWO}") { lastSimSwap } }`,
  ],
  [
    'their consents only',
    `{ phoneNumbers(e164s: ["${ONE}", "${TWO}"]) { simSwapConsent { state } } }`,
  ],
  ['a number and one that is invalid', BY_ARGUMENT, { e164s: [ONE, 'none'] }],
  [
    'more than the limit allows any caller',
    BY_ARGUMENT,
    { e164s: Array.from({ length: 400 }, (_, n) => `+4477009005${n}`) },
  ],
  [
    'a window that is refused',
    `{ phoneNumbers(e164s: ["${ONE}", "${TWO}"]) { simSwappedWithin(maxAgeHours: 0) } }`,
  ],
  ['representations without a number', BY_KEY, representationsOf(7, null)],
  ['representations', BY_KEY, representationsOf(ONE, TWO)],
  [
    'representations under aliases',
    `query ($a: [_Any!]!, $b: [_Any!]!) {
      a: _entities(representations: $a) { ... on PhoneNumber { lastSimSwap } }
      b: _entities(representations: $b) { ... on PhoneNumber { lastSimSwap } }
    }`,
    { a: [representation(ONE)], b: [representation(TWO)] },
  ],
];

describe('without the scope of BATCH_SCOPE, several numbers in an operation', () => {
  it.each(SEVERAL)('are refused before any token: %s', async (_, query, variables) => {
    const service = query.includes('_entities') ? subgraph : bff;
    for (const scope of [READ, '', `${READ} ${SCOPE}s`]) {
      const reply = await ask(service, scope, query, variables);
      expect(reply.codes).toEqual(['FORBIDDEN']);
      expect(reply.data).toBeUndefined();
      expect(reply.errors[0]?.message).toBe(
        'This operation queries several numbers, and your access token allows one. Send one number per operation, or get a token with the scope sim-swap:batch.',
      );
      expect(reply.text).not.toContain('77009');
    }
    expect(costs(service)).toEqual({ tokens: 0, lookups: 0 });
  });

  it('are refused to a user who queries their own number and another', async () => {
    const token = await issuer.token({ phone_number: ONE, phone_number_verified: true });
    const query = `{ myPhoneNumber { lastSimSwap } phoneNumber(e164: "${TWO}") { lastSimSwap } }`;
    const reply = await bff.ask(query, {}, { authorization: `Bearer ${token}` });
    expect(reply.codes).toEqual(['FORBIDDEN']);
    expect(costs(bff)).toEqual({ tokens: 0, lookups: 0 });
  });

  it('are 403 for a client that accepts application/graphql-response+json, and cost no quota', async () => {
    const accept = { accept: 'application/graphql-response+json' };
    const reply = await ask(bff, READ, BY_ARGUMENT, TWO_NUMBERS, accept);
    expect([reply.status, reply.codes]).toEqual([403, ['FORBIDDEN']]);
    const after = await ask(bff, READ, `{ phoneNumber(e164: "${ONE}") { simSwappedWithin } }`);
    expect(after.headers.get('ratelimit')).toContain('"numbers";r=9999;');
  });
});

it('numbers with refused windows only have the same limits', async () => {
  const e164s = Array.from({ length: 1500 }, (_, n) => `+4477009${String(n).padStart(5, '0')}`);
  const query =
    'query ($e164s: [ID!]!) { phoneNumbers(e164s: $e164s) { simSwappedWithin(maxAgeHours: 0) } }';
  const reply = await ask(open, READ, query, { e164s });
  expect([reply.codes, reply.data]).toEqual([['LOOKUP_LIMIT_EXCEEDED'], undefined]);
});

describe('without the scope of BATCH_SCOPE, one number in an operation', () => {
  it('is answered, under any number of aliases and spellings', async () => {
    const reply = await ask(bff, READ, MANY_ALIASES);
    expect([reply.codes, reply.data.b]).toEqual([[], { simSwappedWithin: false }]);
    const repeated = representationsOf(ONE, ONE_AGAIN, ONE);
    const byKey = await ask(subgraph, READ, BY_KEY, repeated);
    expect([byKey.codes, byKey.data._entities.length]).toEqual([[], 3]);
  });

  it('may be beside numbers of which nothing is queried', async () => {
    const query = `{ phoneNumber(e164: "${ONE}") { simSwappedWithin } phoneNumbers(e164s: ["${TWO}", "${THREE}"]) { e164 } }`;
    expect((await ask(bff, READ, query)).codes).toEqual([]);
    expect(costs(bff).lookups).toBe(1);
  });
});

describe('several numbers in an operation are answered', () => {
  it('with the scope, and where BATCH_SCOPE is not set', async () => {
    const scope = `${READ} ${SCOPE}`;
    const byArgument = await ask(bff, scope, BY_ARGUMENT, TWO_NUMBERS);
    const byKey = await ask(subgraph, scope, BY_KEY, representationsOf(ONE, TWO));
    const withoutScope = await ask(open, READ, BY_ARGUMENT, TWO_NUMBERS);
    expect([byArgument, byKey, withoutScope].flatMap(({ codes }) => codes)).toEqual([]);
    expect([bff, subgraph, open].map((service) => costs(service).lookups)).toEqual([2, 2, 2]);
  });

  it('with a refusal for each, where the caller may query several numbers but not these', async () => {
    const reply = await ask(bff, SCOPE, BY_ARGUMENT, TWO_NUMBERS);
    expect(reply.codes).toEqual(['FORBIDDEN', 'FORBIDDEN']);
    expect(reply.data.phoneNumbers).toHaveLength(2);
    expect(costs(bff)).toEqual({ tokens: 0, lookups: 0 });
  });
});
