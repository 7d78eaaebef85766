import type { JWTPayload } from 'jose';
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { claimsAt, createKey, sign, TestIssuer } from './testIssuer.ts';
import { PATIENT, startSimulated, type Reply, type SimulatedService } from '../support/service.ts';

const INVALID = 'Bearer realm="sim-swap", error="invalid_token"';

/** Two numbers whose SIM never changed, and one that does not exist. */
const OWN = '+447700900500';
const OTHER = '+447700900501';
const UNKNOWN = '+447700900299';

const ROUTER_SECRET = 'the-router-and-this-subgraph-know-it';
const PREVIOUS_SECRET = 'the-router-knew-this-one-until-today';

const FIELDS = 'lastSimSwap a: simSwappedWithin b: simSwappedWithin(maxAgeHours: 2400)';

const issuer = await TestIssuer.start();
const bff = await startSimulated({ ...issuer.settings, ...PATIENT });
const subgraph = await startSimulated({
  ...issuer.settings,
  ...PATIENT,
  ROLE: 'subgraph',
  ROUTER_SECRET: `${ROUTER_SECRET},${PREVIOUS_SECRET}`,
});
afterAll(async () => {
  await bff.stop();
  await subgraph.stop();
  await issuer.close();
});

beforeEach(() => {
  bff.simulator.resetStats();
  subgraph.simulator.resetStats();
});

type Verdict = 'answers' | 'FORBIDDEN' | 'UNAUTHENTICATED';

const READS = { scope: 'sim-swap:read' };

/** Each caller: the claims of its token, and the outcome for its own number and for another. */
const CALLERS: Readonly<
  Record<string, readonly [claims: JWTPayload | 'none' | 'forged', own: Verdict, other: Verdict]>
> = {
  'a service with the scope': [{ sub: 'risk', ...READS }, 'answers', 'answers'],
  'a user with a verified number': [ownNumber(true), 'answers', 'FORBIDDEN'],
  'a user whose number is not verified': [ownNumber(false), 'FORBIDDEN', 'FORBIDDEN'],
  'a user without a number': [{}, 'FORBIDDEN', 'FORBIDDEN'],
  'a user with another scope': [{ scope: 'openid sim-swap:write' }, 'FORBIDDEN', 'FORBIDDEN'],
  'a user whose token has expired': [{ exp: 1, ...READS }, 'UNAUTHENTICATED', 'UNAUTHENTICATED'],
  'a client that signed its own token': ['forged', 'UNAUTHENTICATED', 'UNAUTHENTICATED'],
  'a client without a token': ['none', 'UNAUTHENTICATED', 'UNAUTHENTICATED'],
};

function ownNumber(isVerified: boolean): JWTPayload {
  return { phone_number: OWN, phone_number_verified: isVerified };
}

async function authorizationOf(caller: string): Promise<Record<string, string>> {
  const [claims = 'none'] = CALLERS[caller] ?? [];
  if (claims === 'none') return {};
  if (claims !== 'forged') return bearer(await issuer.token(claims));
  return bearer(await sign(await createKey('RS256'), claimsAt(Date.now(), READS)));
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

/** The router's header, and whether it is a proof. */
const PROOFS: Readonly<Record<string, readonly [secret: string | undefined, counts: boolean]>> = {
  'the secret': [ROUTER_SECRET, true],
  'the secret that is being replaced': [PREVIOUS_SECRET, true],
  'no secret': [undefined, false],
  'an empty secret': ['', false],
  'a secret that is cut': [ROUTER_SECRET.slice(0, -1), false],
  'a secret that is too long': [`${ROUTER_SECRET}x`, false],
  'both secrets, as they are set': [`${ROUTER_SECRET},${PREVIOUS_SECRET}`, false],
};

const ENTITIES = `query ($representations: [_Any!]!) {
  _entities(representations: $representations) { ... on PhoneNumber { ${FIELDS} } }
}`;

function representations(e164: string): object {
  return { representations: [{ __typename: 'PhoneNumber', e164 }] };
}

const MATRIX = Object.entries(CALLERS).flatMap(([caller, [, own, other]]) =>
  [
    { about: 'their own number', e164: OWN, expected: own },
    { about: 'their own number, in another form', e164: 'tel:+44 7700-900500', expected: own },
    { about: 'another’s number', e164: OTHER, expected: other },
  ].map((number) => ({ caller, ...number })),
);

describe('the BFF', () => {
  it.each(MATRIX)(
    '$caller queries $about, by itself, in a list and for its consent: $expected',
    async ({ caller, e164, expected }) => {
      const headers = await authorizationOf(caller);
      for (const query of [
        `query ($e164: ID!) { phoneNumber(e164: $e164) { ${FIELDS} } }`,
        `query ($e164: ID!) { phoneNumbers(e164s: [$e164, $e164]) { ${FIELDS} } }`,
      ]) {
        bff.simulator.resetStats();
        const reply = await bff.ask(query, { e164 }, headers);
        expect(outcomeOf(reply, bff)).toEqual(outcome(expected));
      }
      bff.simulator.resetStats();
      const query = 'query ($e164: ID!) { phoneNumber(e164: $e164) { simSwapConsent { state } } }';
      const reply = await bff.ask(query, { e164 }, headers);
      expect(outcomeOf(reply, bff)).toEqual({ ...outcome(expected), operatorWasCalled: false });
    },
  );

  it.each([
    ['a user with a verified number', { e164: OWN, simSwappedWithin: false }, []],
    ['a service with the scope', null, ['FORBIDDEN']],
    ['a user whose number is not verified', null, ['FORBIDDEN']],
    ['a user without a number', null, ['FORBIDDEN']],
  ])('answers myPhoneNumber for %s: %j', async (caller, myPhoneNumber, codes) => {
    const headers = await authorizationOf(caller);
    const reply = await bff.ask('{ myPhoneNumber { e164 simSwappedWithin } }', {}, headers);
    expect(reply.data).toEqual({ myPhoneNumber });
    expect(reply.codes).toEqual(codes);
    const messages = codes.map(() => 'Your access token has no verified phone number.');
    expect(reply.errors.map(({ message }) => message)).toEqual(messages);
    expect(bff.simulator.stats().lookups).toBe(myPhoneNumber === null ? 0 : 1);
  });

  it('counts myPhoneNumber with the questions about that number', async () => {
    const headers = await authorizationOf('a user with a verified number');
    const windows = Array.from({ length: 12 }, (_, n) => {
      return `w${n}: simSwappedWithin(maxAgeHours: ${n + 1})`;
    });
    const [mine, byNumber] = [windows.slice(0, 6), windows.slice(6)].map((six) => six.join(' '));
    const query = `{ myPhoneNumber { ${mine} } phoneNumber(e164: "${OWN}") { ${byNumber} } }`;
    const reply = await bff.ask(query, {}, headers);
    expect(reply.codes).toEqual(['LOOKUP_LIMIT_EXCEEDED']);
    expect(bff.simulator.stats().lookups).toBe(0);
  });

  it('refuses a number that does not exist in the words of one that does', async () => {
    const headers = await authorizationOf('a user without a number');
    const query =
      'query ($e164: ID!) { phoneNumber(e164: $e164) { lastSimSwap simSwappedWithin } }';
    const replies = await Promise.all(
      [OTHER, UNKNOWN].map((e164) => bff.ask(query, { e164 }, headers)),
    );
    expect(replies[0]?.text).toContain('FORBIDDEN');
    expect(replies[0]?.body).toEqual(replies[1]?.body);
    expect(bff.simulator.stats().tokens).toBe(0);
  });

  it('answers the numbers of a list that the caller may query', async () => {
    const headers = await authorizationOf('a user with a verified number');
    const query = 'query ($e164s: [ID!]!) { phoneNumbers(e164s: $e164s) { simSwappedWithin } }';
    const reply = await bff.ask(query, { e164s: [OTHER, OWN, 'none'] }, headers);
    expect(reply.data).toEqual({
      phoneNumbers: [{ simSwappedWithin: null }, { simSwappedWithin: false }, null],
    });
    expect(reply.codes.toSorted()).toEqual(['BAD_USER_INPUT', 'FORBIDDEN']);
    expect(bff.simulator.stats().lookups).toBe(1);
  });
});

async function askFor(caller: string, e164: string, secret?: string) {
  subgraph.simulator.resetStats();
  const proof = secret === undefined ? {} : { 'x-router-secret': secret };
  const headers = { ...(await authorizationOf(caller)), ...proof };
  return outcomeOf(await subgraph.ask(ENTITIES, representations(e164), headers), subgraph);
}

describe('the subgraph', () => {
  it.each(MATRIX)(
    'behind the router, $caller queries $about: $expected',
    async ({ caller, e164, expected }) => {
      expect(await askFor(caller, e164, ROUTER_SECRET)).toEqual(outcome(expected));
    },
  );

  it.each(Object.entries(PROOFS))('checks the router first: %s', async (_, [secret, counts]) => {
    const callers = ['a service with the scope', 'a client without a token'] as const;
    for (const [n, reply] of (['answers', 'UNAUTHENTICATED'] as const).entries()) {
      const expected = counts ? reply : 'NOT THE ROUTER';
      expect(await askFor(callers[n] ?? '', OWN, secret)).toEqual(outcome(expected));
    }
  });

  it.each([
    '{ _service { sdl } }',
    '{ __typename }',
    '{ __schema { types { name } } }',
    '{ not graphql',
  ])('answers only the router: %s', async (query) => {
    const headers = await authorizationOf('a service with the scope');
    const stranger = await subgraph.ask(query, {}, headers);
    expect([stranger.status, stranger.data]).toEqual([403, undefined]);
    const router = { 'x-router-secret': ROUTER_SECRET };
    const answered = await subgraph.ask(query, {}, { ...headers, ...router });
    expect(answered.status).toBe(query === '{ not graphql' ? 400 : 200);
  });
});

describe('a request without a valid token', () => {
  it.each([
    ['no header', {}, 'Bearer realm="sim-swap"'],
    ['another scheme', { authorization: 'Basic YTpi' }, INVALID],
    ['no token', { authorization: 'Bearer' }, INVALID],
    ['two tokens', { authorization: 'Bearer a.b.c d.e.f' }, INVALID],
    ['nonsense', { authorization: 'Bearer a.b.c' }, INVALID],
  ])('is 401 with WWW-Authenticate: %s', async (_what, headers, challenge) => {
    const reply = await bff.ask('{ not graphql', {}, headers);
    expect(reply.status).toBe(401);
    expect(reply.headers.get('www-authenticate')).toBe(challenge);
    expect(reply.codes).toEqual(['UNAUTHENTICATED']);
  });

  it('is refused before its body is read, and by GET as well', async () => {
    const post = await bff.send('/graphql', { method: 'POST', body: '{' });
    const headers = { 'apollo-require-preflight': 'yes' };
    const get = await bff.send('/graphql?query={__typename}', { headers });
    expect([post.status, get.status]).toEqual([401, 401]);
  });
});

it('while the issuer is away a request is 503 with Retry-After, not 401: its token may be valid', async () => {
  const away = await TestIssuer.start();
  onTestFinished(() => away.close());
  away.status = 302;
  await using service = await startSimulated(away.settings);
  const reply = await service.ask('{ __typename }', {}, bearer(await away.token()));
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '5']);
  expect(away.fetches).toBe(1);
});

/** The reply, and whether anything reached the operator. */
function outcome(reply: Verdict | 'NOT THE ROUTER') {
  return { reply, operatorWasCalled: reply === 'answers' };
}

function outcomeOf(reply: Reply, service: SimulatedService) {
  const { lookups, refusedLookups, tokens } = service.stats();
  return { reply: verdictOf(reply), operatorWasCalled: lookups + refusedLookups + tokens > 0 };
}

/** One word for the whole reply; an answer next to a refusal has none. */
function verdictOf({ status, codes, data }: Reply): string {
  if (status !== 200 && data !== undefined) return `${status} with data`;
  if (status === 403) return 'NOT THE ROUTER';
  if (codes.length === 0) return 'answers';
  const values = JSON.stringify(data)?.match(/:(true|false|"[^"]*")/g) ?? [];
  return values.length === 0 ? [...new Set(codes)].join() : `${codes.join()} beside answers`;
}
