import { createHmac } from 'node:crypto';

/**
 * What stands for a number or a person in the audit log: HMAC-SHA256 under the audit key, in hex. There
 * are so few numbers that a hash without a key could be turned back by trying them all.
 *
 * Characters that look alike and mean the same hash alike (Unicode's NFKC).
 */
export function auditHash(key: string, text: string): string {
  return createHmac('sha256', key).update(text.normalize('NFKC')).digest('hex');
}

/** One for each hexadecimal digit, and none that is read as a digit. */
const LETTERS = 'bcdfghjkmnpqrstv';

/** 64 bits: so many callers do not fall together by chance. */
const CALLER_ID_LETTERS = 16;

/**
 * A short name for a caller, in the log and in the audit log, from the {@link auditHash} of its subject. In letters, as
 * the log masks runs of digits, which could be a number. Pure.
 */
export function callerId(subjectHash: string): string {
  return Array.from(
    subjectHash.slice(0, CALLER_ID_LETTERS),
    (digit) => LETTERS[Number.parseInt(digit, 16)],
  ).join('');
}
