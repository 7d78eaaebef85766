import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LookupFailure } from '../../src/domain/errors.ts';
import type { Exchange, FaultCause, ReplyFlaw } from '../../src/wire/exchange.ts';
import { judgeAcknowledgement, judgePoll, judgeToken } from '../../src/tokens/tokenResponses.ts';
import { anyText } from '../support/anyText.ts';
import { jsonReply } from '../wire/replies.ts';
import { START_MS } from '../support/testClock.ts';

const TOKEN = { access_token: 'abc.DEF-123_~+/==', token_type: 'Bearer', expires_in: 300 };
const A_WEEK = 7 * 24 * 3600;
/** On the monotonic clock. */
const LEFT_AT_MS = 5000;

const INVALID: LookupFailure = { code: 'OPERATOR_INVALID_REPLY', reach: 'number' };
const REFUSED: LookupFailure = { code: 'OPERATOR_REFUSED', reach: 'number' };
const UNAVAILABLE: LookupFailure = { code: 'OPERATOR_UNAVAILABLE', reach: 'number' };
const RATE_LIMITED: LookupFailure = { code: 'OPERATOR_RATE_LIMITED', reach: 'number' };
const DENIED: LookupFailure = { code: 'CONSENT_DENIED', reach: 'number' };
const EXPIRED: LookupFailure = { code: 'CONSENT_EXPIRED', reach: 'number' };
const NOT_SERVED: LookupFailure = { code: 'NUMBER_NOT_SERVED', reach: 'number' };

function replied(status: number, body: unknown, retryAfter?: string): Exchange {
  return {
    kind: 'reply',
    reply: jsonReply(status, body, retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
    sentAtMs: START_MS,
    leftAtMs: LEFT_AT_MS,
  };
}

function broken(cause: FaultCause, sent: boolean): Exchange {
  return { kind: 'fault', fault: { cause, sent, detail: 'for the log' } };
}

function judgeTokenBody(body: unknown) {
  return judgeToken(replied(200, body), START_MS);
}

function judgeAcknowledgementBody(body: unknown) {
  return judgeAcknowledgement(replied(200, body), START_MS);
}

describe('judgeToken', () => {
  it.each<[string, object, lifeMs: number | undefined]>([
    ['a token', {}, 300_000],
    ['its life as a string of digits', { expires_in: '300' }, 300_000],
    ['no life', { expires_in: undefined }, undefined],
    ['a life of 0 s, over as it comes', { expires_in: 0 }, 0],
    ['half a second', { expires_in: 0.5 }, 500],
    ['more than a week, as a week', { expires_in: 1e12 }, A_WEEK * 1000],
    ['bearer in lower case (RFC 6749 §5.1)', { token_type: 'bearer' }, 300_000],
  ])('reads %s', (_, members, lifeMs) => {
    const { access_token: value } = { ...TOKEN, ...members };
    const life = lifeMs === undefined ? {} : { expiresAtMs: LEFT_AT_MS + lifeMs };
    const issued = { leftAtMs: LEFT_AT_MS, value, ...life };
    expect(judgeTokenBody({ ...TOKEN, ...members })).toEqual({ kind: 'issued', issued });
  });

  it('drops id_token and refresh_token', () => {
    const judged = judgeTokenBody({ ...TOKEN, id_token: 'identity', refresh_token: 'refresh' });
    expect(JSON.stringify(judged)).not.toMatch(/identity|refresh/);
  });

  it.each<[string, object]>([
    ['no token', { access_token: undefined }],
    ['a token that is a number', { access_token: 123 }],
    ['a token with a space', { access_token: 'abc def' }],
    ['a token with a line break at its end', { access_token: 'abc\n' }],
    ['a token of more than 8 KB', { access_token: 'a'.repeat(8193) }],
    ['another type', { token_type: 'DPoP' }],
    ['a negative life', { expires_in: -1 }],
    ['a life in words', { expires_in: 'five minutes' }],
  ])('refuses %s', (_, members) => {
    expect(judgeTokenBody({ ...TOKEN, ...members })).toMatchObject({ failure: INVALID });
  });

  it.each<[number, unknown, string | undefined, LookupFailure]>([
    [201, TOKEN, undefined, INVALID],
    [400, { error: 'invalid_scope' }, undefined, { ...REFUSED, reach: 'operation' }],
    // No owner was prompted: our client is denied.
    [400, { error: 'access_denied' }, undefined, REFUSED],
    [400, { error: 'unknown_user_id' }, undefined, NOT_SERVED],
    [429, {}, '30', { ...RATE_LIMITED, retryAfterSeconds: 30 }],
    [501, {}, undefined, REFUSED],
    [503, {}, '30', { ...UNAVAILABLE, retryAfterSeconds: 30 }],
  ])('%d with %j and Retry-After: %s', (status, body, retryAfter, failure) => {
    expect(judgeToken(replied(status, body, retryAfter), START_MS)).toMatchObject({ failure });
  });

  it('an unreadable reply is a failure for the number', () => {
    const judged = judgeToken(broken('invalid-reply', true), START_MS);
    expect(judged).toEqual({ kind: 'failed', failure: INVALID });
  });

  it('returns only what may follow "Bearer ", whatever the JSON', () => {
    const nearlyToken = fc.record(
      {
        access_token: fc.oneof(fc.jsonValue(), anyText()),
        token_type: fc.oneof(fc.constant('Bearer'), fc.jsonValue()),
        expires_in: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), nearlyToken), (body) => {
        const judged = judgeTokenBody(body);
        const value = judged.kind === 'issued' ? judged.issued.value : 'abc';
        expect(value).toMatch(/^[A-Za-z0-9._~+/=-]+$/);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('judgeAcknowledgement', () => {
  const BODY = { auth_req_id: 'request-1', expires_in: 120, interval: 2 };

  it.each<[string, object, intervalSeconds: number, expiresInSeconds: number]>([
    ['all of it', {}, 2, 120],
    ['numbers as strings of digits', { expires_in: '120', interval: '2' }, 2, 120],
    ['no interval, as 5 s', { interval: undefined }, 5, 120],
    ['an interval of 0, as 1 s', { interval: 0 }, 1, 120],
    ['an interval of more than an hour, as an hour', { interval: 1e9 }, 3600, 120],
    ['a life of more than a week, as a week', { expires_in: 1e9 }, 2, A_WEEK],
  ])('reads %s', (_, members, intervalSeconds, expiresInSeconds) => {
    const acknowledged = { authReqId: 'request-1', expiresInSeconds, intervalSeconds };
    const judged = judgeAcknowledgementBody({ ...BODY, ...members });
    expect(judged).toEqual({ kind: 'acknowledged', acknowledged });
  });

  it.each<[string, unknown]>([
    ['no auth_req_id', { ...BODY, auth_req_id: undefined }],
    ['an empty one', { ...BODY, auth_req_id: '' }],
    ['one with a space', { ...BODY, auth_req_id: 'a b' }],
    ['one of more than 4 KB', { ...BODY, auth_req_id: 'a'.repeat(4097) }],
    ['no expires_in', { ...BODY, expires_in: undefined }],
    ['an expires_in of 0', { ...BODY, expires_in: 0 }],
    ['an interval in words', { ...BODY, interval: 'often' }],
    ['a page', '<html></html>'],
  ])('refuses %s, but a prompt may be on its way', (_, body) => {
    const doubt = { failure: INVALID, mayHavePrompted: true };
    expect(judgeAcknowledgementBody(body)).toMatchObject(doubt);
  });

  it.each<[number, unknown, string | undefined, LookupFailure, mayHavePrompted: boolean]>([
    [202, BODY, undefined, INVALID, true],
    [400, { error: 'unknown_user_id' }, undefined, NOT_SERVED, false],
    [400, { error: 'invalid_scope' }, undefined, { ...REFUSED, reach: 'operation' }, false],
    [403, { error: 'access_denied' }, undefined, DENIED, false],
    // Something may have begun.
    [408, {}, undefined, UNAVAILABLE, true],
    [500, { error: 'access_denied' }, undefined, UNAVAILABLE, true],
    [501, {}, undefined, REFUSED, true],
    [503, {}, '30', { ...UNAVAILABLE, retryAfterSeconds: 30 }, true],
  ])('%d with %j and Retry-After: %s', (status, body, retryAfter, failure, mayHavePrompted) => {
    const judged = judgeAcknowledgement(replied(status, body, retryAfter), START_MS);
    expect(judged).toMatchObject({ failure, mayHavePrompted });
  });

  it.each<[number, string | undefined, number]>([
    [429, undefined, 30],
    [429, '5', 30],
    [429, '90', 90],
    [409, undefined, 30],
    [409, '90', 90],
  ])(
    '%d with Retry-After: %s: no owner was prompted, and the number is held for %d s',
    (status, retryAfter, seconds) => {
      expect(judgeAcknowledgement(replied(status, {}, retryAfter), START_MS)).toEqual({
        failure: { ...RATE_LIMITED, retryAfterSeconds: seconds },
        kind: 'failed',
        mayHavePrompted: false,
        holdSeconds: seconds,
      });
    },
  );

  it.each<[number, unknown, LookupFailure | 'reply-lost']>([
    [403, { error: 'access_denied' }, 'reply-lost'],
    [400, { error: 'unknown_user_id' }, 'reply-lost'],
    [401, { error: 'invalid_client' }, REFUSED],
    [429, {}, RATE_LIMITED],
    [409, {}, UNAVAILABLE],
  ])('%d with %j that may answer another request: a prompt may be on its way', (...row) => {
    const [status, body, failure] = row;
    const exchange = { ...replied(status, body), isUnproven: true };
    expect(judgeAcknowledgement(exchange, START_MS)).toEqual(
      failure === 'reply-lost'
        ? { kind: failure, isUnproven: true }
        : { kind: 'failed', failure, mayHavePrompted: true, isUnproven: true },
    );
  });

  const causes: FaultCause[] = ['connection', 'timeout', 'cancelled', 'invalid-reply'];
  it.each(causes)('a request that left and has no reply (%s) is in doubt', (cause) => {
    expect(judgeAcknowledgement(broken(cause, true), START_MS)).toEqual({ kind: 'reply-lost' });
  });

  it('a request that is proven unsent prompted no owner', () => {
    const judged = judgeAcknowledgement(broken('connection', false), START_MS);
    expect(judged).toEqual({ failure: UNAVAILABLE, kind: 'failed', mayHavePrompted: false });
  });
});

const PENDING = { error: 'authorization_pending' };
const NO_REPLY = { kind: 'go-on', goOn: 'no_reply' };

describe('judgePoll', () => {
  it('reads a token', () => {
    const issued = judgeTokenBody(TOKEN);
    expect(issued.kind).toBe('issued');
    expect(judgePoll(replied(200, TOKEN), START_MS)).toEqual(issued);
  });

  it.each<[number, unknown, string | undefined, goOn: string, retryAfterSeconds?: number]>([
    [400, PENDING, undefined, 'authorization_pending'],
    [400, { error: 'slow_down' }, undefined, 'slow_down'],
    [429, {}, undefined, 'slow_down'],
    [429, {}, '30', 'slow_down', 30],
    [500, {}, undefined, 'no_reply'],
    [503, {}, '30', 'no_reply', 30],
    [408, {}, undefined, 'no_reply'],
    [400, { code: 400, ...PENDING }, undefined, 'authorization_pending'],
    [400, { code: 'BAD', error: 'slow_down' }, undefined, 'slow_down'],
    [500, { error: 'access_denied' }, undefined, 'no_reply'],
  ])('goes on after %d with %j and Retry-After: %s', (...row) => {
    const [status, body, retryAfter, goOn, retryAfterSeconds] = row;
    const later = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    const judged = judgePoll(replied(status, body, retryAfter), START_MS);
    expect(judged).toEqual({ kind: 'go-on', goOn, ...later });
  });

  it.each<FaultCause>(['connection', 'timeout', 'cancelled'])(
    'goes on after a poll without a reply, for %s',
    (cause) => {
      expect(judgePoll(broken(cause, true), START_MS)).toEqual(NO_REPLY);
      expect(judgePoll(broken(cause, false), START_MS)).toEqual(NO_REPLY);
    },
  );

  it.each<[number, unknown, LookupFailure]>([
    [400, { error: 'expired_token' }, EXPIRED],
    [400, { error: 'invalid_grant' }, EXPIRED],
    [403, { error: 'access_denied' }, DENIED],
    [401, { error: 'invalid_client' }, REFUSED],
    [404, '', REFUSED],
    [302, '', REFUSED],
    [400, '{"error":"authorization_pending","error":"access_denied"}', REFUSED],
    [200, { error: 'authorization_pending' }, INVALID],
    [200, { ...TOKEN, error: 'access_denied' }, INVALID],
    [202, TOKEN, INVALID],
  ])('ends with %d and %j', (status, body, failure) => {
    expect(judgePoll(replied(status, body), START_MS)).toMatchObject({ failure });
  });

  it.each<[number, unknown]>([
    [400, { error: 'access_denied' }],
    [401, { error: 'invalid_client' }],
    [403, {}],
    [302, ''],
  ])('%d with %j that may answer another request counts as no reply', (status, body) => {
    const exchange = { ...replied(status, body), isUnproven: true };
    expect(judgePoll(exchange, START_MS)).toEqual({ ...NO_REPLY, isUnproven: true });
  });

  it.each(['authorization_pending', 'slow_down'])(
    '%s that may answer another request is accepted, since it ends nothing',
    (error) => {
      const exchange = { ...replied(400, { error }), isUnproven: true };
      expect(judgePoll(exchange, START_MS)).toEqual({ kind: 'go-on', goOn: error });
    },
  );

  it.each<ReplyFlaw>([
    'another correlator',
    'no correlator',
    'another correlator, and ours was never echoed',
  ])('a reply refused for %s counts as no reply', (flaw) => {
    const fault = { cause: 'invalid-reply', sent: true, detail: 'for the log', flaw } as const;
    const judged = judgePoll({ kind: 'fault', fault }, START_MS);
    expect(judged).toEqual({ ...NO_REPLY, isUnproven: true });
  });

  it('ends with an unreadable reply', () => {
    const judged = judgePoll(broken('invalid-reply', true), START_MS);
    expect(judged).toEqual({ kind: 'failed', failure: INVALID });
  });
});
