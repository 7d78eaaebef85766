import { describe, expect, it } from 'vitest';
import type { FailureReach, LookupFailureCode } from '../../src/domain/errors.ts';
import { COMMON_ERRORS } from '../../src/http/errorMap.ts';
import type { FaultCause } from '../../src/http/exchange.ts';
import {
  errorWord,
  judgeFault,
  judgeRefusal,
  type RefusalContext,
} from '../../src/http/refusal.ts';
import { START_MS } from '../testClock.ts';
import { jsonReply } from './replies.ts';

const errors = COMMON_ERRORS;
const LOOKUP: RefusalContext = { wordIn: 'code', asksOwner: false, errors };
const CONSENTED_LOOKUP: RefusalContext = { wordIn: 'code', asksOwner: true, errors };
const TOKEN: RefusalContext = { wordIn: 'error', asksOwner: false, errors };
const CONSENT: RefusalContext = { wordIn: 'error', asksOwner: true, errors };
const ALL = [LOOKUP, CONSENTED_LOOKUP, TOKEN, CONSENT];

describe('judgeRefusal', () => {
  it.each<[number, unknown, LookupFailureCode, FailureReach]>([
    // The number
    [404, { code: 'NOT_FOUND' }, 'NUMBER_NOT_SERVED', 'number'],
    [404, { code: 'IDENTIFIER_NOT_FOUND' }, 'NUMBER_NOT_SERVED', 'number'],
    [404, { code: 'SIM_SWAP.UNKNOWN_PHONE_NUMBER' }, 'NUMBER_NOT_SERVED', 'number'],
    [404, { status: 404, code: 'NOT_FOUND', message: '' }, 'NUMBER_NOT_SERVED', 'number'],
    [422, { code: 'SERVICE_NOT_APPLICABLE' }, 'NUMBER_NOT_SERVED', 'number'],
    [422, { code: 'NOT_SUPPORTED' }, 'NUMBER_NOT_SERVED', 'number'],
    [400, { error: 'unknown_user_id' }, 'NUMBER_NOT_SERVED', 'number'],
    // Us
    [400, { code: 'INVALID_ARGUMENT' }, 'OPERATOR_REFUSED', 'question'],
    [400, {}, 'OPERATOR_REFUSED', 'question'],
    [401, { code: 'UNAUTHENTICATED' }, 'OPERATOR_REFUSED', 'number'],
    [401, {}, 'OPERATOR_REFUSED', 'number'],
    [403, { code: 'PERMISSION_DENIED' }, 'OPERATOR_REFUSED', 'operation'],
    [403, { code: 'INVALID_TOKEN_CONTEXT' }, 'OPERATOR_REFUSED', 'operation'],
    [405, {}, 'OPERATOR_REFUSED', 'operation'],
    [415, {}, 'OPERATOR_REFUSED', 'operation'],
    [422, { code: 'UNIDENTIFIABLE_PHONE_NUMBER' }, 'OPERATOR_REFUSED', 'operation'],
    [422, { code: 'MISSING_IDENTIFIER' }, 'OPERATOR_REFUSED', 'operation'],
    [422, { code: 'UNNECESSARY_IDENTIFIER' }, 'OPERATOR_REFUSED', 'operation'],
    [422, {}, 'OPERATOR_REFUSED', 'operation'],
    [301, {}, 'OPERATOR_REFUSED', 'operation'],
    [302, {}, 'OPERATOR_REFUSED', 'operation'],
    [307, {}, 'OPERATOR_REFUSED', 'operation'],
    // The operator
    [408, {}, 'OPERATOR_UNAVAILABLE', 'number'],
    [429, { code: 'TOO_MANY_REQUESTS' }, 'OPERATOR_RATE_LIMITED', 'number'],
    [500, { code: 'INTERNAL' }, 'OPERATOR_UNAVAILABLE', 'number'],
    [501, { code: 'NOT_IMPLEMENTED' }, 'OPERATION_NOT_OFFERED', 'operation'],
    [502, {}, 'OPERATOR_UNAVAILABLE', 'number'],
    [503, {}, 'OPERATOR_UNAVAILABLE', 'number'],
    [504, {}, 'OPERATOR_UNAVAILABLE', 'number'],
    [599, {}, 'OPERATOR_UNAVAILABLE', 'number'],
    // A broken operator has nothing to say of the number.
    [500, { error: 'access_denied' }, 'OPERATOR_UNAVAILABLE', 'number'],
    [503, { error: 'unknown_user_id' }, 'OPERATOR_UNAVAILABLE', 'number'],
    [429, { error: 'access_denied' }, 'OPERATOR_RATE_LIMITED', 'number'],
  ])('%d with %j is %s, about the %s, at every endpoint', (status, body, code, reach) => {
    for (const context of ALL) {
      expect(judgeRefusal(jsonReply(status, body), START_MS, context)).toEqual({ code, reach });
    }
  });

  it('409 is OPERATOR_UNAVAILABLE with a wait, but where a consent has a wait of its own', () => {
    for (const context of ALL) {
      const failure = judgeRefusal(jsonReply(409, { code: 'ABORTED' }), START_MS, context);
      const wait = context.asksOwner ? {} : { retryAfterSeconds: 1 };
      expect(failure).toEqual({ code: 'OPERATOR_UNAVAILABLE', reach: 'number', ...wait });
    }
  });

  it.each<[string, unknown, string?]>([
    ['nothing', ''],
    ['an empty object', {}],
    [
      'Spring',
      {
        timestamp: '2026-01-15T12:00:00.000+00:00',
        status: 404,
        error: 'Not Found',
        path: '/sim-swap/check',
      },
    ],
    [
      'Fastify',
      { message: 'Route POST:/sim-swap/check not found', error: 'Not Found', statusCode: 404 },
    ],
    [
      'WSO2',
      {
        code: '404',
        type: 'Status report',
        message: 'Not Found',
        description: 'The requested resource is not available.',
      },
    ],
    ['WSO2 with a numeric code', { code: 404, message: 'Not Found' }],
    ['Keycloak', { error: 'RESTEASY003210: Could not find resource for full path' }],
    [
      'Keycloak 24',
      { error: 'HTTP 404 Not Found', error_description: 'For more on this error consult the log' },
    ],
    ['Keycloak without that realm', { error: 'Realm does not exist' }],
    ['Kong', { message: 'no Route matched with those values', request_id: 'a1' }],
    [
      'Apigee',
      {
        fault: {
          faultstring: 'Unable to identify proxy for host: secure and url: /check',
          detail: { errorcode: 'messaging.adaptors.http.flow.ApplicationNotFound' },
        },
      },
    ],
    ['Azure API Management', { statusCode: 404, message: 'Resource not found' }],
    [
      'Google',
      { error: { code: 404, message: 'Requested entity was not found.', status: 'NOT_FOUND' } },
    ],
    ['Express', '<pre>Cannot POST /check</pre>', 'text/html; charset=utf-8'],
    ['nginx', '<html><head><title>404 Not Found</title></head></html>', 'text/html'],
    ['a page that says NOT_FOUND', '{"code":"NOT_FOUND"}', 'text/html'],
    ['a problem document', { type: 'about:blank', status: 404 }, 'application/problem+json'],
    ['a code of CAMARA for something else', { status: 404, code: 'INVALID_ARGUMENT' }],
    ['a code of its own', { status: 404, code: 'ROUTE_NOT_FOUND' }],
    ['NOT_FOUND beside another status', { status: 200, code: 'NOT_FOUND' }],
    ['NOT_FOUND beside a status as text', { status: '404', code: 'NOT_FOUND' }],
    ['NOT_FOUND as an error', { error: 'NOT_FOUND' }],
    ['NOT_FOUND further in', { data: { code: 'NOT_FOUND' } }],
    ['NOT_FOUND twice', '{"code":"NOT_FOUND","code":"NOT_FOUND"}'],
  ])('a 404 as of %s is a wrong address, at every endpoint', (_, body, contentType) => {
    const reply = jsonReply(
      404,
      body,
      contentType === undefined ? {} : { 'content-type': contentType },
    );
    for (const context of ALL) {
      expect(judgeRefusal(reply, START_MS, context)).toEqual({
        code: 'OPERATOR_REFUSED',
        reach: 'operation',
      });
    }
  });

  it.each<[number, unknown, LookupFailureCode]>([
    [400, { error: 'access_denied' }, 'CONSENT_DENIED'],
    [401, { error: 'access_denied' }, 'CONSENT_DENIED'],
    [403, { error: 'access_denied' }, 'CONSENT_DENIED'],
    [401, { code: 'AUTHENTICATION_REQUIRED' }, 'CONSENT_EXPIRED'],
  ])(
    '%d with %j is %s where the owner is asked, and about us where no owner is',
    (status, body, code) => {
      const reply = jsonReply(status, body);
      for (const context of [CONSENTED_LOOKUP, CONSENT]) {
        expect(judgeRefusal(reply, START_MS, context)).toEqual({ code, reach: 'number' });
      }
      for (const context of [LOOKUP, TOKEN]) {
        expect(judgeRefusal(reply, START_MS, context).code).toBe('OPERATOR_REFUSED');
      }
    },
  );

  it.each<[number, number | undefined]>([
    [408, 30],
    [429, 30],
    [503, 30],
    [500, 30],
    [501, undefined],
    [401, undefined],
    [403, undefined],
    [404, undefined],
    [302, undefined],
  ])('%d with Retry-After: 30 says to come back after %s s', (status, seconds) => {
    const reply = jsonReply(status, {}, { 'retry-after': '30' });
    expect(judgeRefusal(reply, START_MS, LOOKUP).retryAfterSeconds).toBe(seconds);
  });
});

describe('errorWord', () => {
  it.each<[string, unknown, atLookups: string | undefined, atTokens: string | undefined]>([
    ["CAMARA's code", { status: 404, code: 'NOT_FOUND' }, 'NOT_FOUND', 'NOT_FOUND'],
    ["OAuth's error", { error: 'invalid_grant' }, 'invalid_grant', 'invalid_grant'],
    ['both', { code: 'NOT_FOUND', error: 'invalid_grant' }, 'NOT_FOUND', 'invalid_grant'],
    [
      'an error beside a numeric code',
      { code: 400, error: 'authorization_pending' },
      'authorization_pending',
      'authorization_pending',
    ],
    ['an error beside a null code', { code: null, error: 'slow_down' }, 'slow_down', 'slow_down'],
    ['a number', { code: 404 }, undefined, undefined],
    ['an array', [{ code: 'NOT_FOUND' }], undefined, undefined],
    ['text', 'NOT_FOUND', undefined, undefined],
    ['an error twice', '{"error":"slow_down","error":"access_denied"}', undefined, undefined],
  ])('of %s', (_, body, atLookups, atTokens) => {
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
    expect(judgeFault({ cause, sent: false, detail: 'for the log' })).toEqual({ code, reach });
  });
});
