import type { FailureReach, LookupFailure, LookupFailureCode } from '../errors.ts';
import type { HttpReply, TransportFault } from './exchange.ts';
import { readJsonObject, type JsonObject } from './json.ts';
import {
  LINE_NOT_SERVED_CODES,
  MOVED_NUMBER_WORDS,
  UNKNOWN_NUMBER_CODES,
} from './operatorWords.ts';
import { retryAfterSeconds } from './retryAfter.ts';

/** What bears on how a refusal reads. */
export interface RefusalContext {
  /**
   * Which member names the error where both are there: CAMARA's `code` at lookups, OAuth's `error` at
   * the authorization server, where some operators put a `code` of their own beside it.
   */
  readonly wordIn: 'code' | 'error';
  /** Whether the owner of the number is asked for consent: otherwise a denial is not theirs. */
  readonly asksOwner: boolean;
}

/** The error that the body of a refusal names, in the operator's own words: never for a message or a log. */
export function errorWord(reply: HttpReply, wordIn: 'code' | 'error'): string | undefined {
  return wordOf(bodyOf(reply), wordIn);
}

/** What a reply that is no success comes to, at any endpoint of the operator (design §5). Pure. */
export function judgeRefusal(
  reply: HttpReply,
  nowMs: number,
  context: RefusalContext,
): LookupFailure {
  const { code, reach } = classify(reply.status, bodyOf(reply), context);
  const seconds = MAY_PASS.has(code) ? retryAfterSeconds(reply, nowMs) : undefined;
  return seconds === undefined ? { code, reach } : { code, reach, retryAfterSeconds: seconds };
}

/** The body of a refusal, without members where it cannot be read. */
function bodyOf(reply: HttpReply): JsonObject {
  const read = readJsonObject(reply);
  switch (read.kind) {
    case 'read':
      return read.body;
    case 'flawed':
      return {};
  }
}

/** Marks the failure where the reply says that the operator does not know the number (`others`). Pure. */
export function markUnknownNumber(
  failure: LookupFailure,
  reply: HttpReply,
  wordIn: 'code' | 'error',
): LookupFailure {
  if (failure.code !== 'NUMBER_NOT_SERVED') return failure;
  const word = errorWord(reply, wordIn) ?? '';
  return MOVED_NUMBER_WORDS.has(word) ? { ...failure, isUnknownNumber: true } : failure;
}

const MAY_PASS: ReadonlySet<LookupFailureCode> = new Set([
  'OPERATOR_RATE_LIMITED',
  'OPERATOR_UNAVAILABLE',
]);

/** A status after which the operator may have done what it was asked for: nothing is known. */
export function leavesInDoubt(status: number): boolean {
  return status >= 500 || status === 408;
}

interface Verdict {
  readonly code: LookupFailureCode;
  readonly reach: FailureReach;
}

function classify(status: number, body: JsonObject, context: RefusalContext): Verdict {
  if (status === 501) return { code: 'OPERATION_NOT_OFFERED', reach: 'operation' };
  if (leavesInDoubt(status)) return { code: 'OPERATOR_UNAVAILABLE', reach: 'number' };
  if (status === 429) return { code: 'OPERATOR_RATE_LIMITED', reach: 'number' };
  const aboutNumber = classifyWord(status, body, context);
  if (aboutNumber !== undefined) return { code: aboutNumber, reach: 'number' };
  if (status === 401) return { code: 'OPERATOR_REFUSED', reach: 'number' };
  if (status === 400) return { code: 'OPERATOR_REFUSED', reach: 'question' };
  // The rest speaks for the operation: its scope (403), its address (404, 405, 3xx), the form of its
  // body (415, 422).
  return { code: 'OPERATOR_REFUSED', reach: 'operation' };
}

/** What the operator says of the number or its owner, and not of our request. */
function classifyWord(
  status: number,
  body: JsonObject,
  { wordIn, asksOwner }: RefusalContext,
): LookupFailureCode | undefined {
  const word = wordOf(body, wordIn) ?? '';
  switch (status) {
    case 404:
      if (isUnknownNumber(body)) return 'NUMBER_NOT_SERVED';
      break;
    case 422:
      if (LINE_NOT_SERVED_CODES.has(word)) return 'NUMBER_NOT_SERVED';
      break;
    case 400:
    case 401:
    case 403:
      // Without an owner to ask there is no denial of theirs: it is our client that is refused.
      if (word === 'access_denied' && asksOwner) return 'CONSENT_DENIED';
      if (word === 'AUTHENTICATION_REQUIRED' && asksOwner) return 'CONSENT_EXPIRED';
      break;
    default:
  }
  return word === 'unknown_user_id' && status >= 400 ? 'NUMBER_NOT_SERVED' : undefined;
}

/**
 * CAMARA's own form with one of its own codes. Any other 404 is a wrong address, such as Spring's
 * `{"status":404,"error":"Not Found"}`.
 */
function isUnknownNumber({ code, status }: JsonObject): boolean {
  const isCamaraStatus = status === undefined || status === 404;
  return typeof code === 'string' && UNKNOWN_NUMBER_CODES.has(code) && isCamaraStatus;
}

function wordOf({ code, error }: JsonObject, wordIn: 'code' | 'error'): string | undefined {
  const candidates = wordIn === 'code' ? [code, error] : [error, code];
  return candidates.find((word) => typeof word === 'string');
}

/** What an exchange without a reply comes to (design §5). Pure. */
export function judgeFault(fault: TransportFault): LookupFailure {
  switch (fault.cause) {
    case 'connection':
      return { code: 'OPERATOR_UNAVAILABLE', reach: 'number' };
    case 'timeout':
    case 'cancelled':
      return { code: 'OPERATOR_TIMEOUT', reach: 'number' };
    case 'invalid-reply':
      return { code: 'OPERATOR_INVALID_REPLY', reach: 'question' };
  }
}
