import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codesAt } from '../app/codeReply.ts';
import { smsCode, type CodeState } from '../app/smsCode.ts';
import { startBff, type Bff } from '../bff.ts';
import { startIdentityProvider, type IdentityProvider } from '../identityProvider.ts';
import { askBff, startCodeServer, type CodeServer, type CodeServerParts } from '../server/codes.ts';
import { CodeLimits } from '../server/codeLimits.ts';
import { userByToken } from '../server/user.ts';
import type { Verdict } from '../server/verdict.ts';

let identityProvider: IdentityProvider;
let bff: Bff;
let server: CodeServer;
const sent: string[] = [];
const noted: string[] = [];
const sendSms = async (e164: string): Promise<void> => void sent.push(e164);

function startCodes(parts: Partial<CodeServerParts>): Promise<CodeServer> {
  return startCodeServer({
    userOf: userByToken(identityProvider.settings),
    askAbout: askBff(bff.url),
    sendSms,
    note: (_user, reason) => void noted.push(reason),
    ...parts,
  });
}

beforeAll(async () => {
  identityProvider = await startIdentityProvider();
  bff = await startBff(identityProvider);
  server = await startCodes({});
});
beforeEach(() => {
  sent.splice(0);
  noted.splice(0);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await bff[Symbol.asyncDispose]();
  await identityProvider[Symbol.asyncDispose]();
});

async function statesFor(phoneNumber: string, url = server.url): Promise<readonly CodeState[]> {
  const signIn = () => identityProvider.signIn({ subject: 'alice', phoneNumber });
  return Array.fromAsync(smsCode(codesAt(url, signIn), (ms) => setTimeout(ms)));
}

async function stats(): Promise<Readonly<Record<string, number>>> {
  return (await (await fetch(bff.statsUrl)).json()) as Readonly<Record<string, number>>;
}

describe('the app, from the first state to the last', () => {
  it('waits for a consent, then an SMS is sent, with one prompt and one lookup', async () => {
    const before = await stats();
    const states = await statesFor('+447700900050');

    const [first] = states;
    if (first?.kind !== 'pending') throw new Error('No owner was asked for consent.');
    expect(Date.parse(first.expiresAt ?? '')).toBeGreaterThan(Date.now());
    expect(states.slice(1, -1).every(({ kind }) => kind === 'pending')).toBe(true);
    expect(states.at(-1)).toEqual({ kind: 'sent', ending: '050' });
    expect(sent).toEqual(['+447700900050']);
    const after = await stats();
    expect(difference(after, before)).toMatchObject({ prompts: 1, tokens: 1, lookups: 1 });
    expect(after).toMatchObject({ doublePrompts: 0, earlyPolls: 0, overlappingPolls: 0 });
  });

  it('waits for an owner who declines, and then offers another way', async () => {
    const before = await stats();
    const states = await statesFor('+447700900052');

    expect(states.at(0)?.kind).toBe('pending');
    expect(states.at(-1)).toEqual({ kind: 'anotherWay' });
    expect([sent, noted]).toEqual([[], ['CONSENT_DENIED']]);
    expect(difference(await stats(), before)).toMatchObject({ prompts: 1, tokens: 0, lookups: 0 });
  });

  it.each([
    ['a SIM card that changed lately', '+447700900001', 'SWAPPED'],
    ['a number that is not served', '+447700900010', 'NUMBER_NOT_SERVED'],
    ['a number without its country code', '07700 900001', 'FORBIDDEN'],
  ])('needs one request for %s, and no SMS is sent', async (_, phoneNumber, reason) => {
    expect(await statesFor(phoneNumber)).toEqual([{ kind: 'anotherWay' }]);
    expect([sent, noted]).toEqual([[], [reason]]);
  });
});

it('the BFF serves nothing but the server’s document', async () => {
  const user = { subject: 'alice', phoneNumber: '+447700900004' };
  const reply = await fetch(bff.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${await identityProvider.signIn(user)}`,
    },
    body: JSON.stringify({ query: '{ myPhoneNumber { lastSimSwap } }' }),
  });
  expect(await reply.json()).toMatchObject({
    errors: [{ extensions: { code: 'PERSISTED_QUERY_ID_REQUIRED' } }],
  });
});

it('without a server there is no answer, and without a BFF no SMS', async () => {
  const noAnswer = [{ kind: 'anotherWay' }];
  expect(await statesFor('+447700900004', 'http://127.0.0.1:1')).toEqual(noAnswer);
  await using alone = await startCodes({ askAbout: askBff('http://127.0.0.1:1/graphql') });
  expect(await statesFor('+447700900004', alone.url)).toEqual(noAnswer);
  expect(sent).toEqual([]);
});

describe('a patched app gets no SMS', () => {
  const OTHER = '+447700900004';
  const SWAPPED = '+447700900001';
  /** All that it can change: path, method, headers and body. */
  const patches: readonly (readonly [string, (token: string) => [string, RequestInit]])[] = [
    ['that asks at once, and again', (token) => ['/codes', post(token)]],
    [
      'that says the verdict itself',
      (token) => ['/codes', post(token, { kind: 'trusted', result: 'NOT_SWAPPED' })],
    ],
    [
      'that names another number',
      (token) => ['/codes', post(token, { phoneNumber: OTHER, e164: OTHER })],
    ],
    ['that names it in the address', (token) => [`/codes?phoneNumber=${OTHER}`, post(token)]],
    [
      'that names it in headers',
      (token) => ['/codes', post(token, {}, { 'x-phone-number': OTHER, from: OTHER })],
    ],
    [
      'that asks as it would ask the BFF',
      (token) => [
        '/codes',
        post(token, { query: '{ __typename }', variables: { maxAgeHours: 1 } }),
      ],
    ],
    ['that reads', (token) => ['/codes', { headers: post(token).headers ?? {} }]],
    ['with a token that it made', () => ['/codes', post('e30.e30.e30')]],
    ['without a token', () => ['/codes', { method: 'POST' }]],
  ];

  it.each(patches)('%s', async (_, patch) => {
    for (const phoneNumber of [SWAPPED, '+447700900010', '+447700900013', '+447700900055']) {
      const token = await identityProvider.signIn({ subject: phoneNumber, phoneNumber });
      const [path, request] = patch(token);
      for (let times = 0; times < 3; times += 1) await fetch(server.url + path, request);
    }
    expect(sent).toEqual([]);
  });

  it('for a number that is not verified', async () => {
    const token = await identityProvider.signIn({ subject: 'm', phoneNumber: OTHER }, false);
    const reply = await fetch(`${server.url}/codes`, post(token));
    expect([reply.status, await reply.json()]).toEqual([200, { kind: 'anotherWay' }]);
    expect([sent, noted]).toEqual([[], ['FORBIDDEN']]);
  });
});

describe('an SMS is sent on NOT_SWAPPED and on nothing else', () => {
  it.each<[number, Verdict]>([
    [200, { kind: 'withheld', reason: 'SWAPPED' }],
    [202, { kind: 'pending', retryAfterSeconds: 5, expiresAt: null }],
    [401, { kind: 'signedOut' }],
  ])('%i %o', async (status, verdict) => {
    expect(await statusFor(verdict)).toBe(status);
    expect(sent).toEqual([]);
  });

  it('200, once', async () => {
    expect(await statusFor({ kind: 'trusted', e164: OWN })).toBe(200);
    expect(sent).toEqual([OWN]);
  });

  it('an SMS that cannot be sent is not said to be', async () => {
    await using given = await startCodes({
      userOf: () => Promise.resolve('alice'),
      askAbout: () => Promise.resolve({ kind: 'trusted', e164: OWN }),
      sendSms: () => Promise.reject(new Error('no credit')),
    });
    const states = await Array.fromAsync(
      smsCode(
        codesAt(given.url, () => Promise.resolve('token')),
        (ms) => setTimeout(ms),
      ),
    );
    expect(states).toEqual([{ kind: 'anotherWay' }]);
  });
});

async function statusFor(verdict: Verdict): Promise<number> {
  await using given = await startCodes({
    userOf: () => Promise.resolve('alice'),
    askAbout: () => Promise.resolve(verdict),
  });
  return (await fetch(`${given.url}/codes`, post('token'))).status;
}

describe('the thief is not told', () => {
  it('swapped, declined, unknown and unreachable are one reply, byte for byte', async () => {
    // A BFF of its own: what was asked before it, of the same numbers, differs by number.
    await using fresh = await startBff(identityProvider);
    await using given = await startCodes({ askAbout: askBff(fresh.url) });
    await using alone = await startCodes({ askAbout: askBff('http://127.0.0.1:1/graphql') });
    const replies = await Promise.all([
      finalReply(given.url, '+447700900001'),
      finalReply(given.url, '+447700900052'),
      finalReply(given.url, '+447700900010'),
      finalReply(given.url, '+447700900013'),
      finalReply(alone.url, '+447700900500'),
    ]);

    const [first] = replies;
    expect(first).toMatchObject({ status: 200, body: '{"kind":"anotherWay"}' });
    expect(first.headers).not.toHaveProperty('retry-after');
    for (const reply of replies) expect(reply).toEqual(first);
    expect(sent).toEqual([]);
    expect(noted).toEqual(
      expect.arrayContaining(['SWAPPED', 'CONSENT_DENIED', 'NUMBER_NOT_SERVED', 'NO_ANSWER']),
    );
  });
});

/** The reply to the first request that is not pending, but for the second at which it was written. */
async function finalReply(url: string, phoneNumber: string) {
  const token = await identityProvider.signIn({ subject: 'alice', phoneNumber });
  for (;;) {
    const reply = await fetch(`${url}/codes`, post(token));
    const body = await reply.text();
    if (reply.status === 202) {
      const seconds = Number(reply.headers.get('retry-after'));
      // A longer one would look like a reply that never comes.
      if (seconds > 10) throw new Error(`The reply says to wait for ${seconds} s.`);
      await setTimeout(seconds * 1000);
      continue;
    }
    const { date, ...headers } = Object.fromEntries(reply.headers);
    expect(date).toBeDefined();
    return { status: reply.status, headers, body };
  }
}

describe('codes are limited', () => {
  const HOUR_MS = 3_600_000;

  it('a thousand requests of a user are three SMS; then the operator is not asked', async () => {
    await using given = await startCodes({});
    const user = { subject: 'alice', phoneNumber: '+447700900500' };
    const token = await identityProvider.signIn(user);
    const statuses = new Map<number, number>();
    const requests = Array.from({ length: 50 }, async () => {
      for (let times = 0; times < 20; times += 1) {
        const reply = await fetch(`${given.url}/codes`, post(token));
        await reply.text();
        statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
      }
    });
    await Promise.all(requests);
    expect(sent).toEqual(Array(3).fill(user.phoneNumber));
    expect(statuses.get(200)).toBe(3);
    expect((statuses.get(429) ?? 0) + (statuses.get(202) ?? 0)).toBe(997);

    const before = await stats();
    const reply = await fetch(`${given.url}/codes`, post(token));
    const { kind, retryAfterSeconds } = (await reply.json()) as Record<string, unknown>;
    expect([reply.status, kind]).toEqual([429, 'tooManyCodes']);
    expect(reply.headers.get('retry-after')).toBe(String(retryAfterSeconds));
    expect(await stats()).toEqual(before);
  });

  it('a number has five of all users; a sixth user does not learn that others had them', async () => {
    let nowMs = 0;
    await using given = await startCodes({
      userOf: (token) => Promise.resolve(token),
      askAbout: () => Promise.resolve({ kind: 'trusted', e164: OWN }),
      limits: new CodeLimits(() => nowMs),
    });
    const reply = async (user: string) =>
      (await fetch(`${given.url}/codes`, post(user))).json() as Promise<Record<string, unknown>>;
    for (const user of ['a', 'b', 'c', 'd', 'e'])
      expect(await reply(user)).toHaveProperty('ending');
    expect(await reply('f')).toEqual({ kind: 'anotherWay' });
    expect(noted).toEqual(['NUMBER_LIMIT']);
    nowMs = HOUR_MS;
    expect(await reply('f')).toHaveProperty('ending');
    expect(sent).toHaveLength(6);
  });

  it('a user has three an hour whatever their number is, and the next when the first is an hour old', () => {
    let nowMs = 0;
    const limits = new CodeLimits(() => nowMs);
    for (const e164 of ['+1', '+2', '+3']) {
      expect(limits.claim('alice', e164)).toEqual({ kind: 'claimed' });
      nowMs += 1_000;
    }
    expect(limits.claim('alice', '+4')).toEqual({ kind: 'userLimit', retryAfterSeconds: 3_597 });
    expect(limits.claim('bob', '+4')).toEqual({ kind: 'claimed' });
    nowMs = HOUR_MS;
    expect(limits.claim('alice', '+4')).toEqual({ kind: 'claimed' });
    expect(limits.retryAfterSeconds('alice')).toBe(1);
  });
});

it('nobody is signed out because the identity provider’s keys cannot be fetched', async () => {
  const userOf = userByToken({ ...identityProvider.settings, JWT_JWKS_URL: 'http://127.0.0.1:1/' });
  const token = await identityProvider.signIn({ subject: 'alice', phoneNumber: OWN });
  await using given = await startCodes({ userOf });
  const reply = await fetch(`${given.url}/codes`, post(token));
  expect(await reply.json()).toEqual({ kind: 'anotherWay' });
});

const OWN = '+447700900004';

function post(token: string, body?: object, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}

function difference(
  after: Readonly<Record<string, number>>,
  before: Readonly<Record<string, number>>,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]),
  );
}
