import type { LookupFailure, LookupFailureCode } from '../domain/errors.ts';
import {
  isNamed,
  reachOf,
  ruleFor,
  errorCodeOf,
  type ErrorWording,
  LINE_NOT_SERVED_CODES,
  MOVED_NUMBER_WORDS,
  UNKNOWN_NUMBER_CODES,
} from './errorMap.ts';
import type { HttpReply, ReplyFlaw, TransportFault } from '../wire/exchange.ts';
import { readJsonObject, type JsonObject } from '../wire/json.ts';
import { retryAfterSeconds } from '../wire/headers.ts';

export interface RefusalContext extends ErrorWording {
  /** Whether the owner is prompted. If not, a denial is not by the owner. */
  readonly promptsOwner: boolean;
}

/** An exchange without an answer; `flaw` is the check that its reply failed, for the log. */
export type Failed = {
  readonly kind: 'failed';
  readonly failure: LookupFailure;
  readonly flaw?: ReplyFlaw;
};

export function failed(failure: LookupFailure, flaw?: ReplyFlaw): Failed {
  return flaw === undefined ? { kind: 'failed', failure } : { kind: 'failed', failure, flaw };
}

/** The error that the body of a refusal names, in the operator's own words: never for a message or a log. */
export function errorWord(reply: HttpReply, wording: ErrorWording): string | undefined {
  return errorCodeOf(bodyOf(reply), wording);
}

/** The meaning of a reply that is not a success, at any endpoint of the operator (docs/operator-api.md, "Refusals"). Pure. */
export function judgeRefusal(
  reply: HttpReply,
  nowMs: number,
  context: RefusalContext,
): LookupFailure {
  const mapped = judgeByMap(reply, nowMs, context);
  if (mapped !== undefined) return mapped;
  // Where an owner was prompted, a failure has a waiting time of its own, which spares them the next prompt.
  const isConflict = reply.status === 409 && !context.promptsOwner;
  const verdict = classify(reply.status, bodyOf(reply), context);
  return failureOf(verdict, reply, nowMs, isConflict ? CONFLICT_PASSES_SECONDS : undefined);
}

/** `undefined` where the operator's own map has no rule. Pure. */
export function judgeByMap(
  reply: HttpReply,
  nowMs: number,
  context: RefusalContext,
): LookupFailure | undefined {
  const rule = ruleFor(context.errors, reply.status, errorCodeOf(bodyOf(reply), context));
  if (rule === undefined) return undefined;
  // The next request would prompt the owner again, although the lookup may have been made.
  if (rule.code === 'CONSENT_EXPIRED' && leavesInDoubt(reply.status)) return undefined;
  const saysConsent = rule.code === 'CONSENT_DENIED' || rule.code === 'CONSENT_EXPIRED';
  const code = saysConsent && !context.promptsOwner ? 'OPERATOR_REFUSED' : rule.code;
  return failureOf({ code, reach: reachOf(rule) }, reply, nowMs, rule.retryAfterSeconds);
}

function failureOf(
  { code, reach }: Verdict,
  reply: HttpReply,
  nowMs: number,
  otherwiseSeconds?: number,
): LookupFailure {
  const statedSeconds = RETRYABLE.has(code) ? retryAfterSeconds(reply, nowMs) : undefined;
  const seconds = statedSeconds ?? otherwiseSeconds;
  return seconds === undefined ? { code, reach } : { code, reach, retryAfterSeconds: seconds };
}

/** The body of the reply; empty where it is not a JSON object. */
export function bodyOf(reply: HttpReply): JsonObject {
  const read = readJsonObject(reply);
  return read.kind === 'read' ? read.body : {};
}

/** Marks the failure where the reply says that the operator does not know the number (`others`). Pure. */
export function markUnknownNumber(
  failure: LookupFailure,
  reply: HttpReply,
  wording: ErrorWording,
): LookupFailure {
  // A rule may match a status of doubt, after which no other operator is called.
  if (failure.code !== 'NUMBER_NOT_SERVED' || leavesInDoubt(reply.status)) return failure;
  const word = errorWord(reply, wording) ?? '';
  const rule = ruleFor(wording.errors, reply.status, word);
  const isUnknown = rule?.isUnknownNumber ?? MOVED_NUMBER_WORDS.has(word);
  return isUnknown ? { ...failure, isUnknownNumber: true } : failure;
}

/** Sets how many numbers must be refused before that counts as a refusal of our client. Pure. */
export function markClientRefusal(failure: LookupFailure, reply: HttpReply): LookupFailure {
  if (failure.code !== 'OPERATOR_REFUSED' || failure.reach === 'question') return failure;
  const { status } = reply;
  if (status === 409 || status === 422) return failure;
  const { code, error } = bodyOf(reply);
  const isOfClient =
    // Our credentials, our address, or our scope (RFC 6750 §3.1).
    [401, 404, 405].includes(status) ||
    status < 400 ||
    [code, error].includes('insufficient_scope');
  return {
    ...failure,
    barsAfterNumbers: isOfClient ? CLIENT_REFUSED_AFTER : CLIENT_PERHAPS_REFUSED_AFTER,
  };
}

/** One number may be refused for reasons of its own; two refused numbers point to credentials, address or scope. */
const CLIENT_REFUSED_AFTER = 2;
/** Several numbers may share a reason: lines of companies, or of a brand that the operator resells to. */
const CLIENT_PERHAPS_REFUSED_AFTER = 6;

const CONFLICT_PASSES_SECONDS = 1;

const RETRYABLE: ReadonlySet<LookupFailureCode> = new Set([
  'OPERATOR_RATE_LIMITED',
  'OPERATOR_UNAVAILABLE',
]);

/** A status after which the operator may have acted: nothing is known. */
export function leavesInDoubt(status: number): boolean {
  return status >= 500 || status === 408;
}

type Verdict = Pick<LookupFailure, 'code' | 'reach'>;

function classify(status: number, body: JsonObject, context: RefusalContext): Verdict {
  if (status === 501) return { code: 'OPERATION_NOT_OFFERED', reach: 'operation' };
  if (leavesInDoubt(status)) return { code: 'OPERATOR_UNAVAILABLE', reach: 'number' };
  if (status === 429) return { code: 'OPERATOR_RATE_LIMITED', reach: 'number' };
  const aboutNumber = classifyWord(status, body, context);
  if (aboutNumber !== undefined) return { code: aboutNumber, reach: 'number' };
  if (status === 401) return { code: 'OPERATOR_REFUSED', reach: 'number' };
  // Another request about the number is under way, or was a moment ago (CAMARA's ABORTED and CONFLICT).
  if (status === 409) return { code: 'OPERATOR_UNAVAILABLE', reach: 'number' };
  if (status === 400) return { code: 'OPERATOR_REFUSED', reach: 'question' };
  // The rest is about the operation: its scope (403), its address (404, 405, 3xx), the form of its body (415, 422).
  return { code: 'OPERATOR_REFUSED', reach: 'operation' };
}

/** A code about the number or its owner, not about our request. */
function classifyWord(
  status: number,
  body: JsonObject,
  context: RefusalContext,
): LookupFailureCode | undefined {
  const word = errorCodeOf(body, context) ?? '';
  const isNotServed =
    (status === 404 && isUnknownNumber(body, context)) ||
    (status === 422 && LINE_NOT_SERVED_CODES.has(word)) ||
    (status >= 400 && word === 'unknown_user_id');
  if (isNotServed) return 'NUMBER_NOT_SERVED';
  // Where no owner is prompted, the operator denies our client.
  if (!context.promptsOwner || ![400, 401, 403].includes(status)) return undefined;
  if (word === 'access_denied') return 'CONSENT_DENIED';
  return word === 'AUTHENTICATION_REQUIRED' ? 'CONSENT_EXPIRED' : undefined;
}

/**
 * Whether a 404 is about the number: it has CAMARA's own form, or one of CAMARA's codes where this operator names its
 * errors. Any other 404 is a wrong address, such as Spring's `{"status":404,"error":"Not Found"}`.
 */
function isUnknownNumber(body: JsonObject, { errors }: RefusalContext): boolean {
  const { status } = body;
  const isCamaraStatus = status === undefined || status === 404;
  return isCamaraStatus && isNamed(body, [['code'], ...errors.wordAt], UNKNOWN_NUMBER_CODES);
}

/** The failure of an exchange without a reply (docs/operator-api.md, "No reply"). Pure. */
export function judgeFault({
  cause,
  retryAfterSeconds: seconds = 1,
}: TransportFault): LookupFailure {
  switch (cause) {
    case 'connection':
      return { code: 'OPERATOR_UNAVAILABLE', reach: 'number' };
    case 'descriptors':
      return { code: 'UNAVAILABLE', reach: 'number', retryAfterSeconds: 1 };
    case 'timeout':
    case 'cancelled':
      return { code: 'OPERATOR_TIMEOUT', reach: 'number' };
    case 'rate':
      return { code: 'OPERATOR_RATE_LIMITED', reach: 'number', retryAfterSeconds: seconds };
    case 'invalid-reply':
      return { code: 'OPERATOR_INVALID_REPLY', reach: 'question' };
  }
}
