import type { Identity } from '../../domain/identity.ts';
import type { Lookup } from '../../domain/question.ts';
import type { AuthorizerRequest, Ending, CachedAnswer } from '../../lookups/lookupAuthorizer.ts';
import { mayBeNumber, numbersIn } from './numberForms.ts';
import { createHmac } from 'node:crypto';

/** A line of the audit log. Never a number, a token or an answer. */
export interface AuditEntry {
  /** `before` or `after` a request to the operator; `shared` or `kept` for an answer without a lookup. */
  readonly audit: 'before' | 'after' | CachedAnswer['how'];
  /** As in RFC 3339. */
  readonly time: string;
  readonly event: AuthorizerRequest['event'];
  readonly operator: string;
  readonly caller: AuditedCaller;
  /** The purpose that the caller states. */
  readonly purpose: string;
  /** The purpose that the operator gets; absent where it gets none. */
  readonly sentPurpose?: string | undefined;
  /** HMAC-SHA256 under the audit key, in hex. */
  readonly number: string;
  /** Absent for the status of a consent. */
  readonly operation?: Lookup['operation'] | undefined;
  readonly maxAgeHours?: number | undefined;
  readonly correlator: string;
  readonly consentId?: string | undefined;
  /** Only in a line `after`. */
  readonly outcome?: Ending['outcome'];
  /** Only in a line `after`: exchanges that may have reached the operator. Those of event `lookup` are billed. */
  readonly attempts?: number;
}

/** The first line of a process: it shows that the audit log can be written. */
export interface AuditStart extends Pick<AuditEntry, 'time'> {
  readonly audit: 'start';
}

export interface AuditedCaller {
  /** The {@link callerId}, which the log has as well; absent without a token. */
  readonly id?: string;
  readonly issuer?: string;
  /** The {@link auditHash} of the subject; `anonymous` without a token. */
  readonly subject: string;
  readonly client?: string;
  /** The {@link auditHash} of the digits of each number in the names. */
  readonly numbers?: readonly string[];
}

export interface LineParts {
  readonly key: string;
  readonly time: string;
  readonly operator: string;
  readonly caller: AuditedCaller;
  /** Whether the operator gets the purpose. */
  readonly sendsPurpose: boolean;
}

export function entryBefore(
  request: AuthorizerRequest,
  { key, time, operator, caller, sendsPurpose }: LineParts,
): AuditEntry {
  const { lookup, consentId } = 'lookup' in request ? request : NO_LOOKUP;
  return {
    audit: 'before',
    time,
    event: request.event,
    operator,
    caller,
    purpose: request.request.purpose.name,
    sentPurpose: sendsPurpose ? request.request.purpose.word : undefined,
    number: auditHash(key, request.number),
    operation: lookup?.operation,
    maxAgeHours: lookup?.operation === 'check' ? lookup.maxAgeHours : undefined,
    correlator: request.request.correlator.name,
    consentId,
  };
}

const NO_LOOKUP = { lookup: undefined, consentId: undefined };

/** Characters that move a cursor, change the direction of a text or end a line. JSON may have them; our lines have none. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** One line of JSON, which terminals and editors show as what it is. Pure. */
export function lineOf(entry: AuditEntry | AuditStart): string {
  return JSON.stringify(entry).replaceAll(UNSEEN, (character) =>
    Array.from({ length: character.length }, (_, at) => {
      return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
    }).join(''),
  );
}

/** The line after a line `before`: all of its members, with another time, and the outcome. Pure. */
export function lineAfter(before: string, { outcome, attempts }: Ending, time: string): string {
  const members = before.slice(BEFORE.length + time.length, -1);
  return `{"audit":"after","time":"${time}${members},"outcome":"${outcome}","attempts":${attempts}}`;
}

/** The times have a fixed length: RFC 3339 in milliseconds. */
const BEFORE = '{"audit":"before","time":"';

export function entryDelivered({ how, ...answer }: CachedAnswer, line: LineParts): AuditEntry {
  return { ...entryBefore({ event: 'lookup', ...answer }, line), audit: how };
}

/** A subject is often a person, and for some issuers a number: it is always hashed, and so is each number in it. */
export function auditedCaller(caller: Identity, key: string): AuditedCaller {
  if (caller.kind === 'anonymous') return { subject: caller.key };
  const { issuer, subject, client } = caller;
  const hashOf = (text: string) => auditHash(key, text);
  const hiddenIfNumber = (name: string) => (mayBeNumber(name) ? hashOf(name) : name);
  const numbers = [subject, client ?? ''].flatMap(numbersIn).map(hashOf);
  const subjectHash = hashOf(subject);
  return {
    id: callerId(subjectHash),
    // A web address, as in OpenID Connect: an IP address in it is not a number.
    issuer: /^https?:\/\//i.test(issuer) ? issuer : hiddenIfNumber(issuer),
    subject: subjectHash,
    ...(client === null ? {} : { client: hiddenIfNumber(client) }),
    ...(numbers.length === 0 ? {} : { numbers }),
  };
}

/**
 * HMAC-SHA256 under the audit key, in hex. There are few enough numbers that a hash without a key could be reversed by
 * trying them all. Characters that look alike have the same hash (NFKC).
 */
export function auditHash(key: string, text: string): string {
  return createHmac('sha256', key).update(text.normalize('NFKC')).digest('hex');
}

/** One letter for each hexadecimal digit; none looks like a digit. */
const LETTERS = 'bcdfghjkmnpqrstv';

/**
 * Names a caller in both logs, by 64 bits of its subject's {@link auditHash}: in letters, as digits would be masked.
 */
export function callerId(subjectHash: string): string {
  const digits = Array.from(subjectHash.slice(0, 16));
  return digits.map((digit) => LETTERS[Number.parseInt(digit, 16)]).join('');
}
