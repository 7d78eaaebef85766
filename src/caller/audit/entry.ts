import { parsePhoneNumber } from '../../domain/phoneNumber.ts';
import type { Lookup } from '../../domain/question.ts';
import type { Asked, AuditOutcome, Ending, Heard } from '../../lookups/admission.ts';
import { hashNumber } from './numberHash.ts';

/** What one line of the trail tells. Never a number, a token or an answer. */
export interface AuditEntry {
  /**
   * `before` something is asked and `after` it; `shared` or `kept` where a request hears an answer for
   * which no lookup was made.
   */
  readonly audit: 'before' | 'after' | Heard['how'];
  /** RFC 3339. */
  readonly time: string;
  readonly event: Asked['event'];
  readonly caller: AuditedCaller;
  readonly purpose: string;
  /** HMAC-SHA256 under the audit key, in hex. */
  readonly number: string;
  /** Absent for a consent's status. */
  readonly operation?: Lookup['operation'];
  readonly maxAgeHours?: number;
  readonly correlator: string;
  readonly consentId?: string;
  /** Of a line after. */
  readonly outcome?: AuditOutcome;
  /** Of a line after: exchanges that may have reached the operator. Those of event `lookup` are billed. */
  readonly attempts?: number;
}

/** The first line of a process: it shows that the audit log can be written. */
export interface AuditStart {
  readonly audit: 'start';
  /** RFC 3339. */
  readonly time: string;
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
  { caller, purpose, correlator }: Asked['request'],
  key: string,
): AuditedRequest {
  return {
    caller: auditedCaller(caller, key),
    purpose,
    correlator: correlator.name,
  };
}

/** The line before something is asked. Pure. */
export function entryBefore(
  asked: Asked,
  { caller, purpose, correlator }: AuditedRequest,
  { key, time }: { key: string; time: string },
): AuditEntry {
  return {
    audit: 'before',
    time,
    event: asked.event,
    caller,
    purpose,
    number: hashNumber(key, asked.number),
    ...detailsOf(asked),
    correlator,
    ...consentOf(asked),
  };
}

/** The line after it, with what came of it. Pure. */
export function entryAfter(before: AuditEntry, ending: Ending, time: string): AuditEntry {
  const { outcome, attempts } = ending;
  return { ...before, audit: 'after', time, outcome, attempts };
}

/** The line of an answer that is heard without a lookup. Pure. */
export function entryHeard(
  { how, ...heard }: Heard,
  request: AuditedRequest,
  named: { key: string; time: string },
): AuditEntry {
  return { ...entryBefore({ event: 'lookup', ...heard }, request, named), audit: how };
}

function detailsOf(asked: Asked): Pick<AuditEntry, 'operation' | 'maxAgeHours'> {
  switch (asked.event) {
    case 'lookup':
    case 'consent-request': {
      const { lookup } = asked;
      return lookup.operation === 'check'
        ? { operation: lookup.operation, maxAgeHours: lookup.maxAgeHours }
        : { operation: lookup.operation };
    }
    case 'consent-status':
      return {};
  }
}

function consentOf(asked: Asked): Pick<AuditEntry, 'consentId'> {
  switch (asked.event) {
    case 'lookup':
      return asked.consentId === undefined ? {} : { consentId: asked.consentId };
    case 'consent-request':
      return { consentId: asked.consentId };
    case 'consent-status':
      return {};
  }
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
