import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startSimulator, type Simulator } from '../../simulator/simulator.ts';
import {
  CHECK_SCOPE,
  DATE_SCOPE,
  lookUp,
  poll,
  postForm,
  read,
  requestConsent,
  requestToken,
  type Form,
} from './client.ts';

const NUMBER = '+447700900004';
const TEL_URI = `tel:${NUMBER}`;
const OTHER_NUMBER = '+447700900001';
const TOKEN_LIFE_MS = 60_000;

let simulator: Simulator;
let nowMs = 0;

beforeAll(async () => {
  simulator = await startSimulator({ port: 0, nowMs: () => nowMs });
  return () => simulator.close();
});
beforeEach(() => {
  simulator.resetStats();
});

async function twoLeggedToken(scope = CHECK_SCOPE): Promise<string> {
  return read(await requestToken(simulator, NUMBER, scope), 'access_token');
}

async function threeLeggedToken(scope = CHECK_SCOPE): Promise<string> {
  const authReqId = await read(await requestConsent(simulator, NUMBER, scope), 'auth_req_id');
  return read(await poll(simulator, authReqId), 'access_token');
}

async function outcome(exchange: Promise<Response>): Promise<string> {
  const reply = await exchange;
  return reply.ok ? '200' : `${reply.status} ${await read(reply, 'code')}`;
}

// CAMARA's own scenarios: compatibility/camaraScenarios.ts.
describe('a check with a 2-legged token', () => {
  test.each<[string, object, string]>([
    ['with the smallest window', { phoneNumber: NUMBER, maxAge: 1 }, '200'],
    ['with the largest window', { phoneNumber: NUMBER, maxAge: 2400 }, '200'],
    ['with a window of over 100 days', { phoneNumber: NUMBER, maxAge: 2401 }, '400 OUT_OF_RANGE'],
    ['of another number', { phoneNumber: OTHER_NUMBER }, '403 PERMISSION_DENIED'],
    ['of a number without its plus', { phoneNumber: '447700900004' }, '400 INVALID_ARGUMENT'],
    ['of a number with a space', { phoneNumber: '+44 7700900004' }, '400 INVALID_ARGUMENT'],
    ['of a number that is one', { phoneNumber: 447_700_900_004 }, '400 INVALID_ARGUMENT'],
    ['with a list for a body', [], '400 INVALID_ARGUMENT'],
  ])('%s', async (_name, body, expected) => {
    const exchange = lookUp(simulator, 'check', await twoLeggedToken(), body);

    expect(await outcome(exchange)).toBe(expected);
    expect(simulator.stats()).toMatchObject({
      lookups: expected === '200' ? 1 : 0,
      refusedLookups: expected === '200' ? 0 : 1,
      misusedTokens: expected.startsWith('403') ? 1 : 0,
    });
  });
});

describe('a token', () => {
  test('works once', async () => {
    const token = await twoLeggedToken();
    const body = { phoneNumber: NUMBER };

    expect(await outcome(lookUp(simulator, 'check', token, body))).toBe('200');
    expect(await outcome(lookUp(simulator, 'check', token, body))).toBe('401 UNAUTHENTICATED');
    expect(simulator.stats()).toMatchObject({ lookups: 1, check: 1, tokens: 1, reusedTokens: 1 });
  });

  test.each<[string, string, () => Promise<string>]>([
    ['for the date', 'check', () => twoLeggedToken(DATE_SCOPE)],
    ['for check', 'retrieve-date', () => twoLeggedToken(CHECK_SCOPE)],
    ['of a consent to the date', 'check', () => threeLeggedToken(DATE_SCOPE)],
  ])('%s is refused at %s, and is spent by that', async (_name, operation, issue) => {
    const token = await issue();

    expect(await outcome(lookUp(simulator, operation, token, {}))).toBe('403 PERMISSION_DENIED');
    expect(await outcome(lookUp(simulator, operation, token, {}))).toBe('401 UNAUTHENTICATED');
    expect(simulator.stats()).toMatchObject({ misusedTokens: 1, reusedTokens: 1, lookups: 0 });
  });

  test.each([
    [TOKEN_LIFE_MS - 1, '200'],
    [TOKEN_LIFE_MS, '401 UNAUTHENTICATED'],
  ])('after %d ms', async (ageMs, expected) => {
    const token = await twoLeggedToken();
    nowMs += ageMs;
    const looking = lookUp(simulator, 'check', token, { phoneNumber: NUMBER });

    expect(await outcome(looking)).toBe(expected);
    expect(simulator.stats().reusedTokens).toBe(0);
  });
});

test('the counts are shown and zeroed over HTTP, and take no other method', async () => {
  const statsUrl = `${simulator.authUrl}/stats`;
  await lookUp(simulator, 'check', await twoLeggedToken(), { phoneNumber: NUMBER });

  expect(await (await fetch(statsUrl)).json()).toMatchObject({ lookups: 1, check: 1, tokens: 1 });
  await fetch(statsUrl, { method: 'DELETE' });
  expect(await (await fetch(statsUrl)).json()).toMatchObject({ lookups: 0, check: 0, tokens: 0 });
  const { status, headers } = await fetch(statsUrl, { method: 'POST' });
  expect([status, headers.get('allow')]).toEqual([405, 'GET, DELETE']);
});

describe('a request to no endpoint', () => {
  test.each([
    ['POST', '/elsewhere', 404],
    ['POST', '/sim-swap/v2', 404],
    ['GET', '/sim-swap/v2/check', 405],
    ['PUT', '/oauth/v1/token', 405],
  ])('%s %s is %d without a body', async (method, path, status) => {
    const reply = await fetch(`${simulator.authUrl}${path}`, { method });

    expect([reply.status, await reply.text()]).toEqual([status, '']);
  });
});

describe('a 2-legged token request', () => {
  const scope = CHECK_SCOPE;
  const twoNumbers = [TEL_URI, 'tel:+447700900001'].map((tel): [string, string] => [
    'username',
    tel,
  ]);

  test.each<[string, Form, string]>([
    ['a number with spaces', { username: 'tel:+44 7700 900004', scope }, 'invalid_request'],
    ['a number with hyphens', { username: 'tel:+44-7700-900004', scope }, 'invalid_request'],
    ['a number without tel:', { username: '+447700900004', scope }, 'invalid_request'],
    ['no number', { scope }, 'invalid_request'],
    ['an unknown scope', { username: TEL_URI, scope: 'sim-swap' }, 'invalid_scope'],
    ['both scopes', { username: TEL_URI, scope: `${scope} ${DATE_SCOPE}` }, 'invalid_scope'],
    ['no scope', { username: TEL_URI }, 'invalid_scope'],
    ['two numbers', [...twoNumbers, ['scope', scope]], 'invalid_request'],
  ])('is refused with %s', async (_name, form, error) => {
    const members = Array.isArray(form) ? form : Object.entries(form);
    const url = `${simulator.authUrl}/oauth/v1/token`;
    const reply = await postForm(url, [['grant_type', 'client_credentials'], ...members]);

    expect(reply.status).toBe(400);
    expect(await read(reply, 'error')).toBe(error);
    expect(simulator.stats().tokens).toBe(0);
  });

  test.each([['tel:+447700900004'], ['tel:447700900004']])('takes %s', async (username) => {
    const form = { grant_type: 'client_credentials', username, scope: CHECK_SCOPE };

    expect((await postForm(`${simulator.authUrl}/oauth/v1/token`, form)).status).toBe(200);
  });
});

test.each(['tel:+44 7700 900004', 'tel:+44-7700-900004', '+447700900004', 'ipport:127.0.0.1:1'])(
  'a request for consent is refused about %s, and prompts no owner',
  async (login_hint) => {
    const url = `${simulator.authUrl}/openIDConnectCIBA/v1/bc-authorize`;

    expect((await postForm(url, { login_hint, scope: CHECK_SCOPE })).status).toBe(400);
    expect(simulator.stats().prompts).toBe(0);
  },
);

test.each([
  [true, 'caller-1'],
  [false, null],
])('each reply has the correlator of its request: %s', async (echoesCorrelator, echo) => {
  const echoing = await startSimulator({ port: 0, echoesCorrelator });
  onTestFinished(() => echoing.close());
  const headers = { 'x-correlator': 'caller-1' };
  for (const [method, path] of [
    ['GET', '/stats'],
    ['POST', '/oauth/v1/token'],
    ['POST', '/elsewhere'],
  ] as const) {
    const reply = await fetch(`${echoing.authUrl}${path}`, { method, headers });
    expect(reply.headers.get('x-correlator')).toBe(echo);
  }
});

test.each([
  ['2.1', 'a_b;c:d', '200'],
  ['2.1', 'a b', '400 INVALID_ARGUMENT'],
  ['2.1', 'a'.repeat(257), '400 INVALID_ARGUMENT'],
  ['1.0', 'a b', '200'],
  ['1.0', 'a'.repeat(257), '200'],
] as const)('CAMARA %s and the correlator "%s": %s', async (dialect, correlator, expected) => {
  const speaking = await startSimulator({ port: 0, dialect });
  onTestFinished(() => speaking.close());
  const token = await read(await requestToken(speaking, NUMBER, CHECK_SCOPE), 'access_token');
  const exchange = fetch(`${speaking.simSwapUrl}/check`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-correlator': correlator,
    },
    body: JSON.stringify({ phoneNumber: NUMBER }),
  });

  expect(await outcome(exchange)).toBe(expected);
});
