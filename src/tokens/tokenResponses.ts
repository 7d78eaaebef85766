import type { LookupFailure } from '../domain/errors.ts';
import { COMMON_ERRORS, errorCodesOf, type ErrorMap } from '../judging/errorMap.ts';
import {
  isUnprovenOrigin,
  type Exchange,
  type HttpReply,
  type Replied,
  type ReplyFlaw,
} from '../wire/exchange.ts';
import { readAnswer } from '../judging/answer.ts';
import {
  bodyOf,
  errorWord,
  failed,
  judgeByMap,
  judgeFault,
  judgeRefusal,
  leavesInDoubt,
  markUnknownNumber,
  type Failed,
  type RefusalContext,
} from '../judging/refusal.ts';
import { retryAfterSeconds } from '../wire/headers.ts';

/** A token as it was issued; `id_token` and `refresh_token` are not kept. */
export interface IssuedToken {
  readonly value: string;
  /** When its request left, on the monotonic clock. */
  readonly leftAtMs: number;
  /**
   * On the monotonic clock, counted from when its request left, since the token may be older than its arrival; absent
   * where the operator does not state it.
   */
  readonly expiresAtMs?: number;
  /** Whether its reply may belong to another request. If so, the lookup's reply decides. */
  readonly isUnproven?: true;
  /** The process whose key it is bound to (RFC 9449), where only that can use it. */
  readonly holder?: string;
}

/** A backchannel authentication request that the operator accepted (OpenID CIBA Core §7.3). */
export interface Acknowledgement {
  readonly authReqId: string;
  readonly expiresInSeconds: number;
  readonly intervalSeconds: number;
}

/** A token that was received before: it, or this one, came in the reply to another request. */
export const SEEN_TOKEN: Failed & { readonly isUnproven: true } = {
  ...failed(
    { code: 'OPERATOR_INVALID_REPLY', reach: 'number' },
    'a token that was received before',
  ),
  isUnproven: true,
};

export type TokenJudgement = { readonly kind: 'issued'; readonly issued: IssuedToken } | Failed;

/** The outcome of bc-authorize, which is never repeated once a byte has left: that could prompt twice. */
export type AcknowledgementJudgement =
  | { readonly kind: 'acknowledged'; readonly acknowledged: Acknowledgement }
  | (Failed & {
      /** Whether a prompt may be on its way nevertheless. If so, the owner may not be prompted again yet. */
      readonly mayHavePrompted: boolean;
      /** How long the owner of this number must not be prompted, after a 429 or 409: at least 30 s. */
      readonly holdSeconds?: number;
      readonly isUnproven?: true;
    })
  /** The request left and no reply of its own came back: nothing is known. */
  | { readonly kind: 'reply-lost'; readonly isUnproven?: true };

/** A poll that decided nothing: the owner has not answered, we poll too often, or this poll has no reply. */
export type GoOn = {
  readonly kind: 'go-on';
  readonly goOn: 'authorization_pending' | 'slow_down' | 'no_reply';
  readonly retryAfterSeconds?: number;
  /** Whether the reply may belong to another request: the next poll takes a fresh connection. */
  readonly isUnproven?: true;
};

/** `b64token` of RFC 6750 §2.1: what may follow `Bearer `. */
const BEARER_TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const AUTH_REQ_ID = /^[\x21-\x7e]{1,4096}$/;
const MAX_TOKEN_LENGTH = 8192;
const MAX_LIFE_SECONDS = 7 * 24 * 3600;
const DEFAULT_INTERVAL_SECONDS = 5;
const MAX_INTERVAL_SECONDS = 3600;

/** The least time without a call about a number, after the operator replied that it is busy. */
const MIN_HOLD_SECONDS = 30;

/**
 * Judges what the token endpoint replied to a request without a consent (RFC 6749 §5). Pure.
 *
 * @param types what `token_type` may be, in lower case
 */
export function judgeToken(
  exchange: Exchange,
  nowMs: number,
  errors = COMMON_ERRORS,
  types: readonly string[] = ['bearer'],
): TokenJudgement {
  if (exchange.kind === 'fault') return failed({ ...judgeFault(exchange.fault), reach: 'number' });
  if (isSuccess(exchange)) return readToken(exchange, errors, types);
  const context = { wordIn: 'error', promptsOwner: false, errors } as const;
  const failure = judgeTokenRefusal(exchange.reply, nowMs, context);
  return failed(
    exchange.isUnproven === true ? failure : markUnknownNumber(failure, exchange.reply, context),
  );
}

/** Judges what bc-authorize replied (OpenID CIBA Core §7.3 and §13). Pure. */
export function judgeAcknowledgement(
  exchange: Exchange,
  nowMs: number,
  reading = { errors: COMMON_ERRORS, minIntervalSeconds: 1 },
): AcknowledgementJudgement {
  if (exchange.kind === 'fault') {
    const { fault } = exchange;
    if (fault.sent) return isUnprovenOrigin(fault.flaw) ? UNPROVEN_REPLY : { kind: 'reply-lost' };
    return { ...failed({ ...judgeFault(fault), reach: 'number' }), mayHavePrompted: false };
  }
  const { reply } = exchange;
  if (isSuccess(exchange)) return readAcknowledgement(reply, reading);
  const context = { wordIn: 'error', promptsOwner: true, errors: reading.errors } as const;
  const failure = judgeTokenRefusal(reply, nowMs, context);
  if (exchange.isUnproven === true) return judgeUnprovenAcknowledgement(failure);
  if (reply.status === 429 || reply.status === 409) return hold(retryAfterSeconds(reply, nowMs));
  const isDoubtful = leavesInDoubt(reply.status);
  if (failure.code === 'OPERATOR_RATE_LIMITED' && !isDoubtful) {
    return hold(failure.retryAfterSeconds);
  }
  return {
    ...failed(markUnknownNumber(failure, reply, context)),
    mayHavePrompted: isDoubtful || NOT_REFUSALS.has(failure.code),
  };
}

function hold(saidSeconds = 0): AcknowledgementJudgement {
  const holdSeconds = Math.max(MIN_HOLD_SECONDS, saidSeconds);
  const code = 'OPERATOR_RATE_LIMITED';
  const judged = failed({ code, reach: 'number', retryAfterSeconds: holdSeconds });
  return { ...judged, mayHavePrompted: false, holdSeconds };
}

/** Not refusals: the request may have been carried out, or may succeed the next time. */
const NOT_REFUSALS: ReadonlySet<LookupFailure['code']> = new Set([
  'OPERATOR_UNAVAILABLE',
  'OPERATOR_TIMEOUT',
  'OPERATOR_INVALID_REPLY',
]);

/** A prompt may be on its way, and what looks like the owner's answer may be another person's. */
function judgeUnprovenAcknowledgement(failure: LookupFailure): AcknowledgementJudgement {
  return ['CONSENT_DENIED', 'CONSENT_EXPIRED', 'NUMBER_NOT_SERVED'].includes(failure.code)
    ? UNPROVEN_REPLY
    : { ...failed(failure), mayHavePrompted: true, isUnproven: true };
}

const UNPROVEN_REPLY: AcknowledgementJudgement = { kind: 'reply-lost', isUnproven: true };

/** Judges what the token endpoint replied to a poll (CIBA Core §11; docs/operator-api.md, "Polling for a token"). Pure. */
export function judgePoll(
  exchange: Exchange,
  nowMs: number,
  errors = COMMON_ERRORS,
  types: readonly string[] = ['bearer'],
): TokenJudgement | GoOn {
  if (exchange.kind === 'fault') {
    const { cause, flaw } = exchange.fault;
    if (isUnprovenOrigin(flaw)) return UNPROVEN_POLL;
    // A reply that cannot be read ends the consent; one that never came is requested again.
    return cause === 'invalid-reply' ? invalid() : goOn('no_reply');
  }
  const { reply } = exchange;
  if (isSuccess(exchange)) return readToken(exchange, errors, types);
  // The nonce may have changed again on the way, and the owner was prompted for this.
  if (exchange.challenge?.nonce !== undefined) return goOn('no_reply');
  if (reply.status === 429 || leavesInDoubt(reply.status)) {
    return goOn(reply.status === 429 ? 'slow_down' : 'no_reply', retryAfterSeconds(reply, nowMs));
  }
  const context = { wordIn: 'error', promptsOwner: true, errors } as const;
  const words = reply.status >= 400 ? errorCodesOf(bodyOf(reply), context) : [];
  if (words.includes('authorization_pending')) return goOn('authorization_pending');
  if (words.includes('slow_down')) return goOn('slow_down');
  const failure = judgeTokenRefusal(reply, nowMs, context);
  if (failure.code === 'OPERATOR_RATE_LIMITED') return goOn('slow_down', failure.retryAfterSeconds);
  if (NOT_REFUSALS.has(failure.code)) return goOn('no_reply', failure.retryAfterSeconds);
  // From here on the reply would end the consent.
  if (exchange.isUnproven === true) return UNPROVEN_POLL;
  const isOver = ['expired_token', 'invalid_grant'].includes(errorWord(reply, context) ?? '');
  const isMapped = judgeByMap(reply, nowMs, context) !== undefined;
  const isExpired = isOver && !isMapped && reply.status >= 400;
  return failed(isExpired ? { code: 'CONSENT_EXPIRED', reach: 'number' } : failure);
}

function goOn(why: GoOn['goOn'], seconds?: number): GoOn {
  const judged = { kind: 'go-on', goOn: why } as const;
  return seconds === undefined ? judged : { ...judged, retryAfterSeconds: seconds };
}

const UNPROVEN_POLL: GoOn = { ...goOn('no_reply'), isUnproven: true };

function readToken(
  { reply, leftAtMs }: Replied,
  { wordAt }: ErrorMap,
  types: readonly string[],
): TokenJudgement {
  const read = readAnswer(reply, wordAt);
  if (read.kind === 'flawed') return invalid(read.flaw);
  const { access_token: value, token_type: type } = read.body;
  if (typeof type !== 'string' || !types.includes(type.toLowerCase())) {
    return invalid('wrong token_type');
  }
  if (typeof value !== 'string' || value.length > MAX_TOKEN_LENGTH || !BEARER_TOKEN.test(value)) {
    return invalid('wrong access_token');
  }
  const expiresInSeconds = secondsIn(read.body['expires_in']);
  if (expiresInSeconds === 'absent') return { kind: 'issued', issued: { value, leftAtMs } };
  if (expiresInSeconds === 'unreadable') return invalid('wrong expires_in');
  const expiresAtMs = leftAtMs + expiresInSeconds * 1000;
  return { kind: 'issued', issued: { value, leftAtMs, expiresAtMs } };
}

function readAcknowledgement(
  reply: HttpReply,
  { errors, minIntervalSeconds }: { errors: ErrorMap; minIntervalSeconds: number },
): AcknowledgementJudgement {
  const read = readAnswer(reply, errors.wordAt);
  if (read.kind === 'flawed') return notAcknowledged(read.flaw);
  const { auth_req_id: authReqId } = read.body;
  const expiresInSeconds = secondsIn(read.body['expires_in']);
  const interval = secondsIn(read.body['interval']);
  if (typeof authReqId !== 'string' || !AUTH_REQ_ID.test(authReqId)) {
    return notAcknowledged('wrong auth_req_id');
  }
  if (typeof expiresInSeconds !== 'number' || expiresInSeconds <= 0) {
    return notAcknowledged('wrong expires_in');
  }
  if (interval === 'unreadable') return notAcknowledged('wrong interval');
  const saidSeconds = interval === 'absent' ? DEFAULT_INTERVAL_SECONDS : interval;
  const intervalSeconds = Math.max(minIntervalSeconds, Math.min(saidSeconds, MAX_INTERVAL_SECONDS));
  return { kind: 'acknowledged', acknowledged: { authReqId, expiresInSeconds, intervalSeconds } };
}

/** A successful reply that cannot be read: the prompt may be on its way. */
function notAcknowledged(flaw: ReplyFlaw): AcknowledgementJudgement {
  return { ...invalid(flaw), mayHavePrompted: true };
}

function isSuccess({ reply: { status } }: Replied): boolean {
  return status >= 200 && status < 300;
}

/** A problem with one token is a problem with all of them. */
function invalid(flaw?: ReplyFlaw): Failed {
  return failed({ code: 'OPERATOR_INVALID_REPLY', reach: 'number' }, flaw);
}

function judgeTokenRefusal(
  reply: HttpReply,
  nowMs: number,
  context: RefusalContext,
): LookupFailure {
  const failure = judgeRefusal(reply, nowMs, context);
  // invalid_scope is about the operation; everything else that a token endpoint refuses is about our client.
  const reach = errorWord(reply, context) === 'invalid_scope' ? 'operation' : 'number';
  // A token endpoint that is not implemented is a wrong address.
  const code = failure.code === 'OPERATION_NOT_OFFERED' ? 'OPERATOR_REFUSED' : failure.code;
  return { ...failure, code, reach };
}

/** Seconds as a number or, as some operators write them, as digits in a string. */
function secondsIn(value: unknown): number | 'absent' | 'unreadable' {
  if (value === undefined || value === null) return 'absent';
  const seconds = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds < 0) return 'unreadable';
  return Math.min(seconds, MAX_LIFE_SECONDS);
}
