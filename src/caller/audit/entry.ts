import { maskPhoneNumbers } from '../../domain/mask.ts';
import { parsePhoneNumber } from '../../domain/phoneNumber.ts';
import type { AskedLookup, LookupEnd } from '../../lookups/admission.ts';
import { hashNumber } from './numberHash.ts';

/** What one line of the trail tells. Never a number, a token or an answer. */
export interface AuditEntry {
  readonly audit: 'before' | 'after';
  /** RFC 3339. */
  readonly time: string;
  readonly event: AskedLookup['event'];
  readonly caller: AuditedCaller;
  readonly purpose: string;
  /** HMAC-SHA256 under the audit key, in hex. */
  readonly number: string;
  readonly operation: AskedLookup['lookup']['operation'];
  readonly maxAgeHours?: number;
  readonly correlator: string;
  readonly consentId?: string;
  /** Of a line after the lookup. */
  readonly outcome?: LookupEnd;
}

/** Who asked, as the token named them. */
export interface AuditedCaller {
  readonly issuer?: string;
  readonly subject: string;
  readonly client?: string;
}

/** What all lookups of a request have in common. */
export type AuditedRequest = Pick<AuditEntry, 'caller' | 'purpose' | 'correlator'>;

/** What the trail tells of a request. Pure. */
export function auditedRequest(
  { caller, purpose, correlator }: AskedLookup['request'],
  key: string,
): AuditedRequest {
  return {
    caller: auditedCaller(caller, key),
    purpose,
    // Its first part is the caller's own choice, and may be a number.
    correlator: maskPhoneNumbers(correlator.name),
  };
}

/** The line before a lookup. Pure. */
export function entryBefore(
  { event, lookup, number, consentId }: AskedLookup,
  { caller, purpose, correlator }: AuditedRequest,
  { key, time }: { key: string; time: string },
): AuditEntry {
  return {
    audit: 'before',
    time,
    event,
    caller,
    purpose,
    number: hashNumber(key, number),
    operation: lookup.operation,
    ...(lookup.operation === 'check' ? { maxAgeHours: lookup.maxAgeHours } : {}),
    correlator,
    ...(consentId === undefined ? {} : { consentId }),
  };
}

/** The line after it, with what came of it. Pure. */
export function entryAfter(before: AuditEntry, outcome: LookupEnd, time: string): AuditEntry {
  return { ...before, audit: 'after', time, outcome };
}

/** Some issuers name people by their numbers: those are hashed as any number is. */
function auditedCaller(callerKey: string, key: string): AuditedCaller {
  const [issuer, subject, client] = partsOf(callerKey);
  const hidden = (text: string): string => {
    const digits = text.replaceAll(/[^0-9]/g, '');
    if (!/^(?:tel:)?\+?[\d\s().-]+$/i.test(text) || digits.length > 15) {
      return maskInside(text);
    }
    const parsed = parsePhoneNumber(`+${digits}`);
    return 'value' in parsed ? hashNumber(key, parsed.value) : text;
  };
  return {
    ...(issuer === undefined ? {} : { issuer }),
    subject: hidden(subject),
    ...(client === undefined ? {} : { client: hidden(client) }),
  };
}

/** A number with its + inside a longer name. Digits alone are left: they may be all that tells people apart. */
function maskInside(text: string): string {
  return text.replaceAll(/(?:\+|%2B)\(?\d(?:(?:[\s().-]|%20){0,3}\d){4,}/gi, '[number]');
}

function partsOf(callerKey: string): readonly [string | undefined, string, string | undefined] {
  if (!callerKey.startsWith('[')) return [undefined, callerKey, undefined];
  const parts: unknown = JSON.parse(callerKey);
  const [issuer, subject, client] = Array.isArray(parts) ? parts.map(textOrNothing) : [];
  return [issuer, subject ?? '', client];
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
