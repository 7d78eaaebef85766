import type { LookupFailure } from '../errors.ts';
import type { Exchange, HttpReply } from '../http/exchange.ts';
import { readJsonObject, type JsonObject } from '../http/json.ts';
import { errorName, judgeFault, judgeRefusal } from '../http/refusal.ts';
import { retryAfterSeconds } from '../http/retryAfter.ts';

/** A token as it was issued; `id_token` and `refresh_token` are not kept. */
export interface IssuedToken {
  readonly value: string;
  /** Lifetime; absent where the operator does not say. */
  readonly expiresInSeconds?: number;
}

/** A backchannel authentication request that the operator accepted (OpenID CIBA Core §7.3). */
export interface Acknowledgement {
  readonly authReqId: string;
  readonly expiresInSeconds: number;
  readonly intervalSeconds: number;
}

export type TokenJudgement = { readonly issued: IssuedToken } | { readonly failure: LookupFailure };

export type AcknowledgementJudgement =
  | { readonly acknowledged: Acknowledgement }
  | {
      readonly failure: LookupFailure;
      /** Whether a prompt may be on its way all the same: then nobody may be prompted again yet. */
      readonly mayHavePrompted: boolean;
    }
  /** The request left and no reply of its own came back: nothing is known. */
  | { readonly replyLost: true };

/** What a poll of the token endpoint came to (OpenID CIBA Core §11). */
export type PollJudgement =
  | TokenJudgement
  | {
      /** The person has not answered, we ask too often, or this poll told nothing. */
      readonly goOn: 'authorization_pending' | 'slow_down' | 'no_reply';
      readonly retryAfterSeconds?: number;
    };

/** `b64token` of RFC 6750 §2.1: what may stand behind `Bearer `. */
const BEARER_TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const AUTH_REQ_ID = /^[\x21-\x7e]{1,4096}$/;
const LARGEST_TOKEN = 8192;
const LONGEST_LIFE_SECONDS = 7 * 24 * 3600;
const DEFAULT_INTERVAL_SECONDS = 5;
const LONGEST_INTERVAL_SECONDS = 3600;

/** Any trouble with tokens is trouble with all of them. */
const INVALID_REPLY: LookupFailure = { code: 'OPERATOR_INVALID_REPLY', reach: 'number' };

/** Judges what the token endpoint answered to client_credentials (RFC 6749 §5). Pure. */
export function judgeToken(exchange: Exchange, nowMs: number): TokenJudgement {
  if ('fault' in exchange) return { failure: { ...judgeFault(exchange.fault), reach: 'number' } };
  const { reply } = exchange;
  if (reply.status !== 200) return { failure: judgeTokenRefusal(reply, nowMs) };
  const body = readJsonObject(reply);
  if (body === undefined || !isBearer(body['token_type'])) return { failure: INVALID_REPLY };
  const value = body['access_token'];
  if (typeof value !== 'string' || value.length > LARGEST_TOKEN || !BEARER_TOKEN.test(value)) {
    return { failure: INVALID_REPLY };
  }
  const expiresInSeconds = readSeconds(body, 'expires_in');
  if (expiresInSeconds === 'absent') return { issued: { value } };
  if (expiresInSeconds === 'unreadable') return { failure: INVALID_REPLY };
  return { issued: { value, expiresInSeconds } };
}

/** Judges what `bc-authorize` answered (OpenID CIBA Core §7.3 and §13). Pure. */
export function judgeAcknowledgement(exchange: Exchange, nowMs: number): AcknowledgementJudgement {
  if ('fault' in exchange) {
    if (exchange.fault.sent) return { replyLost: true };
    return { failure: { ...judgeFault(exchange.fault), reach: 'number' }, mayHavePrompted: false };
  }
  const { reply } = exchange;
  if (reply.status === 200) {
    const acknowledged = readAcknowledgement(readJsonObject(reply));
    return acknowledged === undefined
      ? { failure: INVALID_REPLY, mayHavePrompted: true }
      : { acknowledged };
  }
  const failure = judgeTokenRefusal(reply, nowMs);
  // A 503 that says when to come back was written by somebody who did not start.
  const didNotStart = reply.status === 503 && retryAfterSeconds(reply, nowMs) !== undefined;
  const mayHavePrompted = reply.status < 300 || (reply.status >= 500 && !didNotStart);
  return { failure, mayHavePrompted };
}

/** Judges what the token endpoint answered to a poll (OpenID CIBA Core §11; design §5). Pure. */
export function judgePoll(exchange: Exchange, nowMs: number): PollJudgement {
  if ('fault' in exchange) {
    // A reply that cannot be read ends the consent; one that never came is asked for again.
    return exchange.fault.cause === 'invalid-reply'
      ? { failure: INVALID_REPLY }
      : { goOn: 'no_reply' };
  }
  const { reply } = exchange;
  if (reply.status === 429 || reply.status >= 500) {
    const goOn = reply.status === 429 ? 'slow_down' : 'no_reply';
    const seconds = retryAfterSeconds(reply, nowMs);
    return seconds === undefined ? { goOn } : { goOn, retryAfterSeconds: seconds };
  }
  if (reply.status >= 400) {
    const error = errorName(reply);
    if (error === 'authorization_pending' || error === 'slow_down') return { goOn: error };
    if (error === 'expired_token' || error === 'invalid_grant') {
      return { failure: { code: 'CONSENT_EXPIRED', reach: 'number' } };
    }
  }
  return judgeToken(exchange, nowMs);
}

function readAcknowledgement(body: JsonObject | undefined): Acknowledgement | undefined {
  if (body === undefined) return undefined;
  const authReqId = body['auth_req_id'];
  const expiresInSeconds = readSeconds(body, 'expires_in');
  const interval = readSeconds(body, 'interval');
  if (typeof authReqId !== 'string' || !AUTH_REQ_ID.test(authReqId)) return undefined;
  if (typeof expiresInSeconds !== 'number' || expiresInSeconds <= 0) return undefined;
  if (interval === 'unreadable') return undefined;
  const intervalSeconds =
    interval === 'absent'
      ? DEFAULT_INTERVAL_SECONDS
      : Math.min(Math.max(1, interval), LONGEST_INTERVAL_SECONDS);
  return { authReqId, expiresInSeconds, intervalSeconds };
}

function judgeTokenRefusal(reply: HttpReply, nowMs: number): LookupFailure {
  if (reply.status < 300) return INVALID_REPLY;
  const failure = judgeRefusal(reply, nowMs);
  // invalid_scope is about the operation alone; all else a token endpoint refuses, it refuses us.
  const reach = errorName(reply) === 'invalid_scope' ? 'operation' : 'number';
  // A token endpoint that is not implemented is a wrong address.
  const code = failure.code === 'OPERATION_NOT_OFFERED' ? 'OPERATOR_REFUSED' : failure.code;
  return { ...failure, code, reach };
}

function isBearer(tokenType: unknown): boolean {
  return typeof tokenType === 'string' && tokenType.toLowerCase() === 'bearer';
}

/** Seconds as a number or, as some operators write them, as digits in a string. */
function readSeconds(body: JsonObject, member: string): number | 'absent' | 'unreadable' {
  const value = body[member];
  if (value === undefined || value === null) return 'absent';
  const seconds = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds < 0) return 'unreadable';
  return Math.min(seconds, LONGEST_LIFE_SECONDS);
}
