import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  preferredWaitMs,
  readHost,
  readTraceparent,
  retryAfterSeconds,
  writeTraceparent,
} from '../../src/wire/headers.ts';
import { jsonReply } from './replies.ts';

const NOON = Date.UTC(2026, 0, 15, 12);
const A_DAY = 86_400;

function secondsOf(value: string | string[] | undefined): number | undefined {
  return retryAfterSeconds(jsonReply(429, {}, { 'retry-after': value }), NOON);
}

describe('retryAfterSeconds', () => {
  it.each<[string, string, number]>([
    ['seconds', '30', 30],
    ['seconds with spaces around', ' 30 ', 30],
    ['a day', '86400', A_DAY],
    ['more than a day, as a day', '86401', A_DAY],
    ['an HTTP date', 'Thu, 15 Jan 2026 12:00:30 GMT', 30],
    ['an HTTP date of RFC 850', 'Thursday, 15-Jan-26 12:00:30 GMT', 30],
    ['an HTTP date of asctime with a day of one digit', 'Sun Feb  1 12:00:00 2026', A_DAY],
    ['a past date, as now', 'Thu, 15 Jan 2026 11:59:00 GMT', 0],
    ['a date more than a day ahead, as a day', 'Fri, 15 Jan 2027 12:00:00 GMT', A_DAY],
  ])('reads %s', (_, value, seconds) => {
    expect(secondsOf(value)).toBe(seconds);
  });

  it.each<[string, string | string[] | undefined]>([
    ['an absent header', undefined],
    ['an empty one', ''],
    ['a repeated one', ['30', '60']],
    ['a fraction', '1.5'],
    ['a word and a year', 'Soon 2027'],
    ['a sentence that ends in GMT', 'Not before noon GMT'],
    ['RFC 3339', '2026-01-15T12:00:30Z'],
    ['another zone', 'Thu, 15 Jan 2026 12:00:30 CET'],
    ['an unknown month', 'Thu, 15 Foo 2026 12:00:30 GMT'],
    ['the hour 25', 'Thu, 15 Jan 2026 25:00:30 GMT'],
  ])('ignores %s', (_, value) => {
    expect(secondsOf(value)).toBeUndefined();
  });

  it('rounds up to whole seconds, so that no retry is early', () => {
    const reply = jsonReply(503, {}, { 'retry-after': 'Thu, 15 Jan 2026 12:00:30 GMT' });
    expect(retryAfterSeconds(reply, NOON + 1)).toBe(30);
    expect(retryAfterSeconds(reply, NOON + 1_000)).toBe(29);
  });

  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it.each(['Asia/Tokyo', 'America/Los_Angeles'])('reads every form as UTC: %s', (zone) => {
    vi.stubEnv('TZ', zone);
    expect(new Date(NOON).getHours()).not.toBe(12);
    expect(secondsOf('Thu, 15 Jan 2026 12:00:30 GMT')).toBe(30);
    expect(secondsOf('Thursday, 15-Jan-26 12:00:30 GMT')).toBe(30);
    expect(secondsOf('Thu Jan 15 12:00:30 2026')).toBe(30);
  });
});

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';

describe('traceparent (W3C Trace Context)', () => {
  it.each([
    [`00-${TRACE_ID}-${SPAN_ID}-01`, true],
    [`00-${TRACE_ID}-${SPAN_ID}-00`, false],
    [`00-${TRACE_ID}-${SPAN_ID}-03`, true],
    [`cc-${TRACE_ID}-${SPAN_ID}-01-what-will-be`, true],
  ])('%s is read', (text, isSampled) => {
    expect(readTraceparent(text)).toEqual({ traceId: TRACE_ID, spanId: SPAN_ID, isSampled });
  });

  it.each([
    undefined,
    '',
    'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    `00-${TRACE_ID}-${SPAN_ID}-01-more`,
    `cc-${TRACE_ID}-${SPAN_ID}-01.more`,
    `00-${TRACE_ID}-${SPAN_ID}`,
    `00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`,
    `00-${'0'.repeat(32)}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
    `00-${TRACE_ID}-${SPAN_ID}-01, 00-${TRACE_ID}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${SPAN_ID}-01\n`,
    // They may be phone numbers.
    `00-${'447700900123'.padStart(32, '0')}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${'447700900123'.padStart(16, '0')}-01`,
  ])('%j starts a new trace', (text) => {
    expect(readTraceparent(text)).toBeUndefined();
  });

  it.each([
    'rojo=00f067aa0ba902b7',
    'congo=t61rcWkgMzE , rojo=00f067aa0ba902b7',
    'tenant@system=a b,x=_',
    `a=${'x'.repeat(256)}`,
    Array.from({ length: 32 }, (_, n) => `k${n}=v`).join(),
  ])('with the state %j has it', (state) => {
    const text = `00-${TRACE_ID}-${SPAN_ID}-01`;
    const parent = { traceId: TRACE_ID, spanId: SPAN_ID, isSampled: true };
    expect(readTraceparent(text, state)).toEqual({ ...parent, state });
    expect(readTraceparent('', state)).toBeUndefined();
  });

  // What of it is not valid: tracing/tracing.test.ts.
  it.each([
    Array.from({ length: 20 }, (_, n) => `k${n}=${'v'.repeat(25)}`).join(),
    'number=447700900123',
    'number=07700-900-123',
    'k+447700900123=v',
  ])('without the state %j, which is too long or may hold a number', (state) => {
    const parent = { traceId: TRACE_ID, spanId: SPAN_ID, isSampled: true };
    expect(readTraceparent(`00-${TRACE_ID}-${SPAN_ID}-01`, state)).toEqual(parent);
  });

  it('is written as it is read', () => {
    for (const isSampled of [true, false]) {
      const parent = { traceId: TRACE_ID, spanId: SPAN_ID, isSampled };
      expect(readTraceparent(writeTraceparent(parent))).toEqual(parent);
    }
  });
});

it.each([
  ['sim-swap.example:8080', { name: 'sim-swap.example', port: 8080 }],
  ['127.0.0.1', { name: '127.0.0.1', port: 80 }],
  ['10.20.30.255:81', { name: '10.20.30.255', port: 81 }],
  ['447.700.900.123', undefined],
  ['07.70.90.01', undefined],
  ['+447700900123', undefined],
  ['447700900123.example:80', undefined],
  ['07700-900-123', undefined],
  ['a host', undefined],
  ['', undefined],
  [undefined, undefined],
])('the host %j is %j', (text, host) => {
  expect(readHost(text)).toEqual(host);
});

it.each<[string | undefined, number | undefined]>([
  [undefined, undefined],
  ['', undefined],
  ['wait=25', 25_000],
  ['WAIT = "10"', 10_000],
  ['respond-async, wait=10', 10_000],
  ['wait=10, wait=20', 10_000],
  ['wait=ten, wait=20', undefined],
  ['wait=-1', undefined],
  ['wait=9999999999', undefined],
  ['waiting=10', undefined],
])('Prefer: %j is %j ms', (prefer, waitMs) => {
  expect(preferredWaitMs(prefer)).toBe(waitMs);
});
