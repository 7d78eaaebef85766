import { describe, expect, it } from 'vitest';
import type { FailureReach, LookupFailureCode } from '../../src/errors.ts';
import type { FaultCause } from '../../src/http/exchange.ts';
import { errorName, judgeFault, judgeRefusal } from '../../src/http/refusal.ts';
import { START_MS } from '../testClock.ts';
import { jsonReply } from './replies.ts';

describe('judgeRefusal', () => {
  it.each<[number, unknown, LookupFailureCode, FailureReach]>([
    // The number
    [404, { code: 'NOT_FOUND' }, 'NUMBER_NOT_SERVED', 'number'],
    [404, { code: 'IDENTIFIER_NOT_FOUND' }, 'NUMBER_NOT_SERVED', 'number'],
    [422, { code: 'SERVICE_NOT_APPLICABLE' }, 'NUMBER_NOT_SERVED', 'number'],
    [422, { code: 'NOT_SUPPORTED' }, 'NUMBER_NOT_SERVED', 'number'],
    [422, { code: 'UNIDENTIFIABLE_PHONE_NUMBER' }, 'NUMBER_NOT_SERVED', 'number'],
    [400, { error: 'unknown_user_id' }, 'NUMBER_NOT_SERVED', 'number'],
    [400, { error: 'access_denied' }, 'CONSENT_DENIED', 'number'],
    [403, { error: 'access_denied' }, 'CONSENT_DENIED', 'number'],
    // Us
    [400, { code: 'INVALID_ARGUMENT' }, 'OPERATOR_REFUSED', 'question'],
    [400, {}, 'OPERATOR_REFUSED', 'question'],
    [401, { code: 'UNAUTHENTICATED' }, 'OPERATOR_REFUSED', 'number'],
    [401, {}, 'OPERATOR_REFUSED', 'number'],
    [403, { code: 'PERMISSION_DENIED' }, 'OPERATOR_REFUSED', 'operation'],
    [404, {}, 'OPERATOR_REFUSED', 'operation'],
    [404, { code: 404 }, 'OPERATOR_REFUSED', 'operation'],
    [405, {}, 'OPERATOR_REFUSED', 'operation'],
    [409, { code: 'CONFLICT' }, 'OPERATOR_REFUSED', 'operation'],
    [415, {}, 'OPERATOR_REFUSED', 'operation'],
    [422, { code: 'UNNECESSARY_IDENTIFIER' }, 'OPERATOR_REFUSED', 'operation'],
    [422, {}, 'OPERATOR_REFUSED', 'operation'],
    [301, {}, 'OPERATOR_REFUSED', 'operation'],
    [302, {}, 'OPERATOR_REFUSED', 'operation'],
    [307, {}, 'OPERATOR_REFUSED', 'operation'],
    // The operator
    [429, { code: 'TOO_MANY_REQUESTS' }, 'OPERATOR_RATE_LIMITED', 'number'],
    [500, { code: 'INTERNAL' }, 'OPERATOR_UNAVAILABLE', 'number'],
    [501, { code: 'NOT_IMPLEMENTED' }, 'OPERATION_NOT_OFFERED', 'operation'],
    [502, {}, 'OPERATOR_UNAVAILABLE', 'number'],
    [503, {}, 'OPERATOR_UNAVAILABLE', 'number'],
    [504, {}, 'OPERATOR_UNAVAILABLE', 'number'],
    [599, {}, 'OPERATOR_UNAVAILABLE', 'number'],
  ])('%d with %j is %s, about the %s', (status, body, code, reach) => {
    expect(judgeRefusal(jsonReply(status, body), START_MS)).toEqual({ code, reach });
  });

  it('takes a 404 that is a page for a wrong address, whatever the page says', () => {
    const page = jsonReply(404, '{"code":"NOT_FOUND"}', { 'content-type': 'text/html' });
    expect(judgeRefusal(page, START_MS)).toEqual({ code: 'OPERATOR_REFUSED', reach: 'operation' });
  });

  it.each<[number, number | undefined]>([
    [429, 30],
    [503, 30],
    [500, 30],
    [501, undefined],
    [401, undefined],
    [403, undefined],
    [404, undefined],
    [302, undefined],
  ])('%d with Retry-After: 30 says to come back after %s s', (status, seconds) => {
    const failure = judgeRefusal(jsonReply(status, {}, { 'retry-after': '30' }), START_MS);
    expect(failure.retryAfterSeconds).toBe(seconds);
  });
});

describe('errorName', () => {
  it.each<[string, unknown, string | undefined]>([
    ["CAMARA's code", { status: 404, code: 'NOT_FOUND' }, 'NOT_FOUND'],
    ["OAuth's error", { error: 'invalid_grant' }, 'invalid_grant'],
    ['the code where both stand', { code: 'NOT_FOUND', error: 'invalid_grant' }, 'NOT_FOUND'],
    ['the error beside a null code', { code: null, error: 'invalid_grant' }, 'invalid_grant'],
    ['nothing of a number', { code: 404 }, undefined],
    ['nothing of an array', [{ code: 'NOT_FOUND' }], undefined],
    ['nothing of text', 'NOT_FOUND', undefined],
  ])('is %s', (_, body, name) => {
    expect(errorName(jsonReply(400, body))).toBe(name);
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
    expect(judgeFault({ cause, sent: false, detail: 'for the log' })).toEqual({ code, reach });
  });
});
