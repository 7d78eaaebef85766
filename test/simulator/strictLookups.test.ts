import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../../simulator/simulator.ts';
import {
  CHECK_SCOPE,
  DATE_SCOPE,
  lookUp,
  poll,
  read,
  requestConsent,
  requestToken,
} from './client.ts';

const NUMBER = '+447700900004';
const OTHER_NUMBER = '+447700900001';
const TOKEN_LIFE_MS = 60_000;

let simulator: Simulator;
let nowMs = 0;

beforeAll(async () => {
  simulator = await startSimulator({ port: 0, nowMs: () => nowMs });
});

beforeEach(() => {
  simulator.resetStats();
});

afterAll(async () => {
  await simulator.close();
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

describe('a check with a 2-legged token', () => {
  test.each<[string, object, string]>([
    ['of its number', { phoneNumber: NUMBER }, '200'],
    ['with the smallest window', { phoneNumber: NUMBER, maxAge: 1 }, '200'],
    ['with the largest window', { phoneNumber: NUMBER, maxAge: 2400 }, '200'],
    ['with a window of over 100 days', { phoneNumber: NUMBER, maxAge: 2401 }, '400 OUT_OF_RANGE'],
    ['of another number', { phoneNumber: OTHER_NUMBER }, '403 PERMISSION_DENIED'],
    ['of a number without its plus', { phoneNumber: '447700900004' }, '400 INVALID_ARGUMENT'],
    ['of a number with a space', { phoneNumber: '+44 7700900004' }, '400 INVALID_ARGUMENT'],
    ['of a number that is one', { phoneNumber: 447_700_900_004 }, '400 INVALID_ARGUMENT'],
    ['of a null number', { phoneNumber: null }, '400 INVALID_ARGUMENT'],
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

describe('a lookup with a 3-legged token', () => {
  test.each<[string, object, string]>([
    ['that leaves the number out', { maxAge: 24 }, '200'],
    ['that names another number', { phoneNumber: OTHER_NUMBER }, '422 UNNECESSARY_IDENTIFIER'],
  ])('%s', async (_name, body, expected) => {
    expect(await outcome(lookUp(simulator, 'check', await threeLeggedToken(), body))).toBe(
      expected,
    );
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
  ])('%s does not do for %s, and is spent by trying', async (_name, operation, issue) => {
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

    expect(await outcome(lookUp(simulator, 'check', token, { phoneNumber: NUMBER }))).toBe(
      expected,
    );
    expect(simulator.stats().reusedTokens).toBe(0);
  });
});

describe('the counts over HTTP', () => {
  test('are shown, and zeroed', async () => {
    const statsUrl = `${simulator.authUrl}/stats`;
    await lookUp(simulator, 'check', await twoLeggedToken(), { phoneNumber: NUMBER });

    expect(await (await fetch(statsUrl)).json()).toMatchObject({ lookups: 1, check: 1, tokens: 1 });
    await fetch(statsUrl, { method: 'DELETE' });
    expect(await (await fetch(statsUrl)).json()).toMatchObject({ lookups: 0, check: 0, tokens: 0 });
  });
});

describe('a request that nothing answers to', () => {
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
