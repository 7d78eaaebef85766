import { describe, expect, it } from 'vitest';
import type { FailureReach, LookupFailureCode } from '../../src/domain/errors.ts';
import { COMMON_ERRORS } from '../../src/judging/errorMap.ts';
import type { FaultCause } from '../../src/wire/exchange.ts';
import {
  errorWord,
  judgeFault,
  judgeRefusal,
  type RefusalContext,
} from '../../src/judging/refusal.ts';
import { START_MS } from '../support/testClock.ts';
import { jsonReply } from '../wire/replies.ts';

const errors = COMMON_ERRORS;
const LOOKUP: RefusalContext = { wordIn: 'code', promptsOwner: false, errors };

// What each status and word means: test/operator/refusalsTable.test.ts.
describe('judgeRefusal', () => {
  it.each([
    [false, { retryAfterSeconds: 1 }],
    [true, {}],
  ])('409 has a wait, unless an owner was prompted: %s', (asksOwner, wait) => {
    const reply = jsonReply(409, { code: 'ABORTED' });
    const failure = { code: 'OPERATOR_UNAVAILABLE', reach: 'number', ...wait };
    expect(judgeRefusal(reply, START_MS, { ...LOOKUP, promptsOwner: asksOwner })).toEqual(failure);
  });

  it('429 is a limit, even with the word of a denial', () => {
    const reply = jsonReply(429, { error: 'access_denied' });
    const failure = judgeRefusal(reply, START_MS, { ...LOOKUP, promptsOwner: true });
    expect(failure).toEqual({ code: 'OPERATOR_RATE_LIMITED', reach: 'number' });
  });

  it.each<[string, unknown, string?]>([
    ['nothing', ''],
    ['Spring', { timestamp: '2026-01-15T12:00:00.000+00:00', status: 404, error: 'Not Found' }],
    ['WSO2 with a numeric code', { code: 404, message: 'Not Found' }],
    ['Keycloak 24', { error: 'HTTP 404 Not Found', error_description: 'For more on this error' }],
    ['Google', { error: { code: 404, message: 'Not found.', status: 'NOT_FOUND' } }],
    ['nginx', '<html><head><title>404 Not Found</title></head></html>', 'text/html'],
    ['a page that says NOT_FOUND', '{"code":"NOT_FOUND"}', 'text/html'],
    ['a code of its own', { status: 404, code: 'ROUTE_NOT_FOUND' }],
    ['NOT_FOUND beside another status', { status: 200, code: 'NOT_FOUND' }],
    ['NOT_FOUND beside a status as text', { status: '404', code: 'NOT_FOUND' }],
    ['NOT_FOUND as an error', { error: 'NOT_FOUND' }],
    ['NOT_FOUND further in', { data: { code: 'NOT_FOUND' } }],
    ['NOT_FOUND twice', '{"code":"NOT_FOUND","code":"NOT_FOUND"}'],
  ])('a 404 with the body of %s is a wrong address', (_, body, contentType) => {
    const headers = contentType === undefined ? {} : { 'content-type': contentType };
    for (const wordIn of ['code', 'error'] as const) {
      const failure = judgeRefusal(jsonReply(404, body, headers), START_MS, { ...LOOKUP, wordIn });
      expect(failure).toEqual({ code: 'OPERATOR_REFUSED', reach: 'operation' });
    }
  });

  it.each<[number, number | undefined]>([
    [408, 30],
    [429, 30],
    [501, undefined],
    [404, undefined],
    [302, undefined],
  ])('%d with Retry-After: 30 has a wait of %s s', (status, seconds) => {
    const reply = jsonReply(status, {}, { 'retry-after': '30' });
    expect(judgeRefusal(reply, START_MS, LOOKUP).retryAfterSeconds).toBe(seconds);
  });
});

describe('errorWord', () => {
  it.each<[string, unknown, atLookups: string | undefined, atTokens?: string]>([
    ["CAMARA's code", { status: 404, code: 'NOT_FOUND' }, 'NOT_FOUND'],
    ["OAuth's error", { error: 'invalid_grant' }, 'invalid_grant'],
    ['both', { code: 'NOT_FOUND', error: 'invalid_grant' }, 'NOT_FOUND', 'invalid_grant'],
    ['an error beside a numeric code', { code: 400, error: 'x_y' }, 'x_y'],
    ['an error beside a null code', { code: null, error: 'slow_down' }, 'slow_down'],
    ['a number', { code: 404 }, undefined],
    ['an error twice', '{"error":"slow_down","error":"access_denied"}', undefined],
  ])('of %s', (_, body, atLookups, atTokens = atLookups) => {
    expect(errorWord(jsonReply(400, body), { wordIn: 'code', errors })).toBe(atLookups);
    expect(errorWord(jsonReply(400, body), { wordIn: 'error', errors })).toBe(atTokens);
  });
});

describe('judgeFault', () => {
  it.each<[FaultCause, LookupFailureCode, FailureReach]>([
    ['connection', 'OPERATOR_UNAVAILABLE', 'number'],
    ['timeout', 'OPERATOR_TIMEOUT', 'number'],
    ['cancelled', 'OPERATOR_TIMEOUT', 'number'],
    ['invalid-reply', 'OPERATOR_INVALID_REPLY', 'question'],
  ])('%s is %s, about the %s', (cause, code, reach) => {
    expect(judgeFault({ cause, sent: true, detail: 'for the log' })).toEqual({ code, reach });
  });
});
