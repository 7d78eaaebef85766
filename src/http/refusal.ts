import type { FailureReach, LookupFailure, LookupFailureCode } from '../errors.ts';
import type { HttpReply, TransportFault } from './exchange.ts';
import { readJsonObject } from './json.ts';
import { retryAfterSeconds } from './retryAfter.ts';

/** Error codes of CAMARA that say: this number, whatever the question. */
const NUMBER_NOT_SERVED = new Set([
  'SERVICE_NOT_APPLICABLE',
  'NOT_SUPPORTED',
  'UNIDENTIFIABLE_PHONE_NUMBER',
]);

/** What the body of a refusal names: CAMARA's `code` or OAuth's `error`. */
export function errorName(reply: HttpReply): string | undefined {
  const body = readJsonObject(reply);
  const name = body?.['code'] ?? body?.['error'];
  return typeof name === 'string' ? name : undefined;
}

/** What a reply that is no success comes to, at any endpoint of the operator (design §5). Pure. */
export function judgeRefusal(reply: HttpReply, nowMs: number): LookupFailure {
  const { code, reach } = classify(reply.status, errorName(reply));
  const seconds = MAY_PASS.has(code) ? retryAfterSeconds(reply, nowMs) : undefined;
  return seconds === undefined ? { code, reach } : { code, reach, retryAfterSeconds: seconds };
}

const MAY_PASS: ReadonlySet<LookupFailureCode> = new Set([
  'OPERATOR_RATE_LIMITED',
  'OPERATOR_UNAVAILABLE',
]);

function classify(
  status: number,
  name: string | undefined,
): { code: LookupFailureCode; reach: FailureReach } {
  if (name === 'access_denied') return { code: 'CONSENT_DENIED', reach: 'number' };
  if (name === 'unknown_user_id') return { code: 'NUMBER_NOT_SERVED', reach: 'number' };
  if (status === 404 && name !== undefined) return { code: 'NUMBER_NOT_SERVED', reach: 'number' };
  if (status === 422 && name !== undefined && NUMBER_NOT_SERVED.has(name)) {
    return { code: 'NUMBER_NOT_SERVED', reach: 'number' };
  }
  if (status === 401) return { code: 'OPERATOR_REFUSED', reach: 'number' };
  if (status === 429) return { code: 'OPERATOR_RATE_LIMITED', reach: 'number' };
  if (status === 501) return { code: 'OPERATION_NOT_OFFERED', reach: 'operation' };
  if (status >= 500) return { code: 'OPERATOR_UNAVAILABLE', reach: 'number' };
  if (status === 400) return { code: 'OPERATOR_REFUSED', reach: 'question' };
  // The rest speaks for the operation: its scope (403), its address (404 without a code, 405, 3xx),
  // the form of its body (415, 422).
  return { code: 'OPERATOR_REFUSED', reach: 'operation' };
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
