import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../../simulator/simulator.ts';
import { NEVER_SWAPPED_RANGE, TEST_NUMBERS } from '../../simulator/testNumbers.ts';
import {
  CHECK_SCOPE,
  CORRELATOR,
  DATE_SCOPE,
  lookUp,
  poll,
  read,
  requestConsent,
  requestToken,
} from './client.ts';

const START_MS = Date.UTC(2026, 0, 31);
const CHECK_HOURS = 240;

/** A reply that comes is waited for; one that never comes is not waited for long. */
const LONG_WAIT_MS = 15_000;
const SHORT_WAIT_MS = 300;

const UNSWAPPED = ['200 latestSimChange 2016-02-03T00:00:00.000Z', '200 swapped false'] as const;

/** What `retrieve-date` and `check` for 240 hours come to. */
const LOOKUPS: Readonly<Record<string, readonly [date: string, check: string]>> = {
  '001': ['200 latestSimChange 2026-01-30T22:00:00.000Z', '200 swapped true'],
  '002': ['200 latestSimChange 2026-01-28T00:00:00.000Z', '200 swapped true'],
  '003': ['200 latestSimChange 2025-12-22T00:00:00.000Z', '200 swapped false'],
  '004': UNSWAPPED,
  '005': ['200 latestSimChange 2026-01-30T00:00:00.000Z', '200 swapped false'],
  '006': ['200 latestSimChange null', '200 swapped true'],
  '007': ['200 latestSimChange null', '200 swapped false'],
  '008': ['200 latestSimChange null monitoredPeriod 120', '200 swapped false'],
  '009': ['200 latestSimChange 2026-01-28T00:00:00.000Z', '400 OUT_OF_RANGE'],
  '010': ['404 IDENTIFIER_NOT_FOUND', '404 IDENTIFIER_NOT_FOUND'],
  '011': ['422 SERVICE_NOT_APPLICABLE', '422 SERVICE_NOT_APPLICABLE'],
  '025': ['422 SERVICE_NOT_APPLICABLE', '422 SERVICE_NOT_APPLICABLE'],
  '026': ['422 MISSING_IDENTIFIER', '422 MISSING_IDENTIFIER'],
  '012': ['429 TOO_MANY_REQUESTS, retry-after 30', '429 TOO_MANY_REQUESTS, retry-after 30'],
  '013': ['503 UNAVAILABLE', '503 UNAVAILABLE'],
  '014': ['500 INTERNAL', '500 INTERNAL'],
  '015': UNSWAPPED,
  '016': ['no reply', 'no reply'],
  '017': ['connection lost', 'connection lost'],
  '018': ['connection lost', 'connection lost'],
  '019': ['401 UNAUTHENTICATED', '401 UNAUTHENTICATED'],
  '020': ['403 PERMISSION_DENIED', '403 PERMISSION_DENIED'],
  '021': [UNSWAPPED[0], '501 NOT_IMPLEMENTED'],
  '022': ['501 NOT_IMPLEMENTED', UNSWAPPED[1]],
  '023': ['404 without a body', '404 without a body'],
  '024': ['307 without a body, location /elsewhere', '307 without a body, location /elsewhere'],
  '030': ['200 not JSON', '200 not JSON'],
  '031': ['200 swapped "false" latestSimChange 0', '200 swapped "false" latestSimChange 0'],
  '032': ['200 latestSimChange 2020-01-01T00:00:00', UNSWAPPED[1]],
  '033': ['200 latestSimChange 2999-01-01T00:00:00Z', UNSWAPPED[1]],
  '034': ['200 latestSimChange 1900-01-01T00:00:00Z', UNSWAPPED[1]],
  '035': [`${UNSWAPPED[0]}, another correlator`, `${UNSWAPPED[1]}, another correlator`],
  '036': ['200 over 64 KB', '200 over 64 KB'],
};

/** The result of a 2-legged token request. */
const TOKENS: Readonly<Record<string, string>> = {
  '040': '401 invalid_client',
  '041': '429 temporarily_unavailable, retry-after 30',
  '042': '503 temporarily_unavailable',
  '043': '200 not JSON',
  '044': 'no reply',
};

/** The result of bc-authorize, the people it prompts, and the polls so many milliseconds later. */
const CONSENTS: Readonly<
  Record<string, readonly [reply: string, prompts: number, polls: Readonly<Record<number, string>>]>
> = {
  '004': ['expires_in 120 interval 2', 1, { 0: 'granted' }],
  '050': ['expires_in 120 interval 2', 1, { 0: 'authorization_pending', 2000: 'granted' }],
  '051': ['expires_in 120 interval 2', 1, { 7999: 'authorization_pending', 9999: 'granted' }],
  '052': ['expires_in 120 interval 2', 1, { 0: 'authorization_pending', 2000: 'access_denied' }],
  '053': ['403 access_denied', 0, {}],
  '054': ['400 unknown_user_id', 0, {}],
  '055': ['expires_in 6 interval 2', 1, { 5999: 'authorization_pending', 7999: 'expired_token' }],
  '056': ['expires_in 120 interval 2', 1, { 0: 'slow_down', 7000: 'granted' }],
  '057': ['expires_in 120 interval 2', 1, { 0: 'invalid_grant' }],
  '058': ['connection lost', 1, {}],
  '059': ['expires_in 120', 1, { 0: 'granted' }],
  '060': ['503 temporarily_unavailable, retry-after 60', 0, {}],
};

let simulator: Simulator;
let nowMs = START_MS;

beforeAll(async () => {
  simulator = await startSimulator({ port: 0, nowMs: () => nowMs });
});

beforeEach(() => {
  nowMs = START_MS;
  simulator.resetStats();
});

afterAll(async () => {
  await simulator.close();
});

test('every test number is in one of the tables', () => {
  const tabled = [LOOKUPS, TOKENS, CONSENTS].flatMap((table) => Object.keys(table));

  expect([...new Set(tabled)].toSorted()).toEqual(
    TEST_NUMBERS.map(({ number }) => number.slice(-3)).toSorted(),
  );
});

describe('lookups about a test number', () => {
  test.each(Object.entries(LOOKUPS))('…900%s', async (lastDigits, [date, check]) => {
    const number = numberOf(lastDigits);

    expect([
      await lookUpWithNewToken('retrieve-date', number, date),
      await lookUpWithNewToken('check', number, check),
    ]).toEqual([date, check]);
  });

  test.each([[NEVER_SWAPPED_RANGE.first], ['+447700900742'], [NEVER_SWAPPED_RANGE.last]])(
    '%s of the range that never swapped',
    async (number) => {
      expect(await lookUpWithNewToken('retrieve-date', number)).toBe(UNSWAPPED[0]);
      expect(await lookUpWithNewToken('check', number)).toBe(UNSWAPPED[1]);
    },
  );

  test.each([
    ['+12005550100', ...UNSWAPPED],
    ['+12995550189', ...UNSWAPPED],
    ['+12345550190', '200 latestSimChange null', '200 swapped false'],
    ['+12345550194', '404 IDENTIFIER_NOT_FOUND', '404 IDENTIFIER_NOT_FOUND'],
    ['+12345550195', '200 latestSimChange 2026-01-30T22:00:00.000Z', '200 swapped true'],
    ['+12345550196', '200 latestSimChange 2026-01-30T04:00:00.000Z', '200 swapped true'],
    ['+12345550197', '200 latestSimChange 2026-01-28T12:00:00.000Z', '200 swapped true'],
    ['+12345550198', '200 latestSimChange 2026-01-26T00:00:00.000Z', '200 swapped true'],
    ['+12995550199', '200 latestSimChange 2026-01-11T00:00:00.000Z', '200 swapped false'],
    ['+13005550195', '404 IDENTIFIER_NOT_FOUND', '404 IDENTIFIER_NOT_FOUND'],
    ['+12345550295', '404 IDENTIFIER_NOT_FOUND', '404 IDENTIFIER_NOT_FOUND'],
  ])('%s of the ten thousand lines for lists: %s, %s', async (number, date, check) => {
    expect(await lookUpWithNewToken('retrieve-date', number)).toBe(date);
    expect(await lookUpWithNewToken('check', number)).toBe(check);
  });

  test.each([['+447700900499'], ['+447700901000'], ['+4477009005000']])(
    '%s, of which the operator has never heard',
    async (number) => {
      expect(await lookUpWithNewToken('check', number)).toBe('404 IDENTIFIER_NOT_FOUND');
    },
  );
});

describe('a 2-legged token request about a test number', () => {
  test.each(Object.entries(TOKENS))('…900%s', async (lastDigits, expected) => {
    const signal = AbortSignal.timeout(waitMs(expected));
    const reply = requestToken(simulator, numberOf(lastDigits), CHECK_SCOPE, signal);

    expect(await summary(reply)).toBe(expected);
  });
});

describe('a request for consent about a test number', () => {
  test.each(Object.entries(CONSENTS))(
    '…900%s',
    async (lastDigits, [expected, prompts, expectedPolls]) => {
      const reply = await requestConsent(simulator, numberOf(lastDigits)).catch(() => undefined);
      const authReqId = reply?.ok === true ? await read(reply.clone(), 'auth_req_id') : '';
      const authorized = reply === undefined ? 'connection lost' : await summary(reply);

      const polls: Record<string, string> = {};
      for (const afterMs of Object.keys(expectedPolls)) {
        nowMs = START_MS + Number(afterMs);
        const polled = await poll(simulator, authReqId);
        polls[afterMs] = polled.ok ? 'granted' : await read(polled, 'error');
      }

      expect(authorized.replace(`200 auth_req_id ${authReqId} `, '')).toBe(expected);
      expect(simulator.stats().prompts).toBe(prompts);
      expect(polls).toEqual(expectedPolls);
    },
  );
});

function numberOf(lastDigits: string): string {
  return `+447700900${lastDigits}`;
}

function waitMs(expected: string): number {
  return expected === 'no reply' ? SHORT_WAIT_MS : LONG_WAIT_MS;
}

async function lookUpWithNewToken(
  operation: 'retrieve-date' | 'check',
  number: string,
  expected = '',
): Promise<string> {
  const isCheck = operation === 'check';
  const issued = await requestToken(simulator, number, isCheck ? CHECK_SCOPE : DATE_SCOPE);
  const token = await read(issued, 'access_token');
  const body = { phoneNumber: number, ...(isCheck ? { maxAge: CHECK_HOURS } : {}) };
  const signal = AbortSignal.timeout(waitMs(expected));
  return summary(lookUp(simulator, operation, token, body, signal));
}

/** An exchange in one line: the status, what the body says, and the headers that matter. */
async function summary(exchange: Response | Promise<Response>): Promise<string> {
  try {
    const reply = await exchange;
    const correlator = reply.headers.get('x-correlator');
    const parts = [
      `${reply.status} ${bodySummary(await reply.text())}`,
      ...['retry-after', 'location'].map((name) =>
        reply.headers.has(name) ? `${name} ${reply.headers.get(name)}` : undefined,
      ),
      correlator === null || correlator === CORRELATOR ? undefined : 'another correlator',
    ];
    return parts.filter((part) => part !== undefined).join(', ');
  } catch (error) {
    return error instanceof DOMException && error.name === 'TimeoutError'
      ? 'no reply'
      : 'connection lost';
  }
}

function bodySummary(text: string): string {
  if (text === '') return 'without a body';
  if (text.length > 64 * 1024) return 'over 64 KB';
  if (!text.startsWith('{')) return 'not JSON';
  const body: unknown = JSON.parse(text);
  const fields = Object.entries(typeof body === 'object' && body !== null ? body : {});
  const refusal: unknown = fields.find(([name]) => name === 'code' || name === 'error')?.[1];
  if (typeof refusal === 'string') return refusal;
  return fields.map(([name, value]) => `${name} ${valueSummary(value)}`).join(' ');
}

/** Quoted only where a text stands for something that is no text. */
function valueSummary(value: unknown): string {
  return value === 'true' || value === 'false' ? JSON.stringify(value) : String(value);
}
