import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codesAt } from '../app/codeReply.ts';
import { smsCode, type CodeState } from '../app/smsCode.ts';
import { startBff, type Bff } from '../bff.ts';
import { startIdentityProvider, type IdentityProvider } from '../identityProvider.ts';
import { askBff, startCodeServer, type CodeServer } from '../server/codes.ts';
import type { Verdict } from '../server/verdict.ts';

let identityProvider: IdentityProvider;
let bff: Bff;
let server: CodeServer;
const sent: string[] = [];
const sendSms = async (e164: string): Promise<void> => void sent.push(e164);
beforeAll(async () => {
  identityProvider = await startIdentityProvider();
  bff = await startBff(identityProvider);
  server = await startCodeServer(askBff(bff.url), sendSms);
});
beforeEach(() => void sent.splice(0));
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

  it('waits, then hears that the owner declined', async () => {
    const before = await stats();
    const states = await statesFor('+447700900052');

    expect(states.at(0)?.kind).toBe('pending');
    expect(states.at(-1)).toEqual({ kind: 'declined' });
    expect(sent).toEqual([]);
    expect(difference(await stats(), before)).toMatchObject({ prompts: 1, tokens: 0, lookups: 0 });
  });

  it.each([
    ['a SIM card that changed lately', '+447700900001', { kind: 'swapped' }],
    [
      'a number that is not served',
      '+447700900010',
      { kind: 'unknown', code: 'NUMBER_NOT_SERVED' },
    ],
    ['a number without its country code', '07700 900001', { kind: 'unknown', code: 'FORBIDDEN' }],
  ])('needs one request for %s, and no SMS is sent', async (_, phoneNumber, state) => {
    expect(await statesFor(phoneNumber)).toEqual([state]);
    expect(sent).toEqual([]);
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
  const noAnswer = [{ kind: 'unknown', code: 'NO_ANSWER' }];
  expect(await statesFor('+447700900004', 'http://127.0.0.1:1')).toEqual(noAnswer);
  await using alone = await startCodeServer(askBff('http://127.0.0.1:1/graphql'), sendSms);
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
    expect([reply.status, await reply.json()]).toEqual([
      503,
      { kind: 'unknown', code: 'FORBIDDEN' },
    ]);
    expect(sent).toEqual([]);
  });
});

describe('an SMS is sent on NOT_SWAPPED and on nothing else', () => {
  it.each<[number, Verdict]>([
    [403, { kind: 'swapped' }],
    [202, { kind: 'pending', retryAfterSeconds: 5, expiresAt: null }],
    [403, { kind: 'declined' }],
    [403, { kind: 'unanswered' }],
    [401, { kind: 'signedOut' }],
    [503, { kind: 'unknown', code: 'RATE_LIMITED', retryAfterSeconds: 60 }],
    [503, { kind: 'unknown', code: 'OPERATOR_RATE_LIMITED', retryAfterSeconds: 60 }],
  ])('%i %o', async (status, verdict) => {
    expect(await statusFor(verdict)).toBe(status);
    expect(sent).toEqual([]);
  });

  it('200, once', async () => {
    expect(await statusFor({ kind: 'trusted', e164: OWN })).toBe(200);
    expect(sent).toEqual([OWN]);
  });

  it('an SMS that cannot be sent is not said to be', async () => {
    await using given = await startCodeServer(
      () => Promise.resolve({ kind: 'trusted', e164: OWN }),
      () => Promise.reject(new Error('no credit')),
    );
    const states = await Array.fromAsync(
      smsCode(
        codesAt(given.url, () => Promise.resolve('token')),
        (ms) => setTimeout(ms),
      ),
    );
    expect(states).toEqual([{ kind: 'unknown', code: 'NO_ANSWER' }]);
  });
});

async function statusFor(verdict: Verdict): Promise<number> {
  await using given = await startCodeServer(() => Promise.resolve(verdict), sendSms);
  return (await fetch(`${given.url}/codes`, post('token'))).status;
}

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
