import type { FieldNode } from 'graphql';
import { ERRORS } from '../errors.ts';

/** `null`. */
export const NULL_BYTES = 4;

/** A place in a list, in the path of an error: no list that fits a request has more places. */
export const MAX_INDEX_BYTES = 8;

/** Making a field costs more than its text, however short that is. */
export const MIN_FIELD_BYTES = 32;

/** What stands around the answers: `data`, `errors`, and what is left of the quotas in `extensions`. */
export const MAX_ENVELOPE_BYTES = 1024;

/** GraphQL's own messages quote what they refuse; longer ones are cut. */
export const MAX_MESSAGE_CHARACTERS = 300;

/** A code's message, or the reason why a number or a window was refused. */
const MAX_REASON_BYTES = Math.max(
  200,
  ...Object.values(ERRORS).map(({ message }) => Buffer.byteLength(JSON.stringify(message))),
);

/** `{"message":,"path":[],"locations":[{"line":,"column":}],"extensions":{"code":,"retryAfterSeconds":,"expiresAt":,"maxAgeHours":}},` */
const MAX_ERROR_FRAME_BYTES = 260;

/** The most that an error at a path takes. */
export function errorBytes(pathBytes: number): number {
  return MAX_REASON_BYTES + MAX_ERROR_FRAME_BYTES + pathBytes;
}

/** The name under which a field's value stands, with its quotes, colon and comma. */
export function keyBytes({ alias, name }: FieldNode): number {
  return (alias ?? name).value.length + 4;
}

/** The most that the value of a field of a phone number, of a check or of a consent takes. */
export function valueBytes(field: string): ValueBytes {
  return VALUES[field] ?? UNKNOWN;
}

interface ValueBytes {
  readonly size: number;
  /** Whether there may be an error in its place. */
  readonly canFail: boolean;
}

/** RFC 3339 with nine digits of a second and a zone, in quotes. */
const MAX_DATE_TIME_BYTES = '"2026-03-14T10:26:53.123456789+01:00"'.length;

/** The longest code, in quotes. */
const MAX_CODE_BYTES = Math.max(...Object.keys(ERRORS).map((code) => code.length + 2));

const VALUES: Readonly<Record<string, ValueBytes>> = {
  __typename: { size: '"SimSwapConsent"'.length, canFail: false },
  e164: { size: '"+123456789012345"'.length, canFail: false },
  lastSimSwap: { size: MAX_DATE_TIME_BYTES, canFail: true },
  simSwappedWithin: { size: 'false'.length, canFail: true },
  simSwapCheck: { size: 0, canFail: true },
  simSwapConsent: { size: 0, canFail: true },
  result: { size: '"NOT_SWAPPED"'.length, canFail: false },
  reason: { size: MAX_CODE_BYTES, canFail: false },
  maxAgeHours: { size: '-2147483648'.length, canFail: false },
  asOf: { size: MAX_DATE_TIME_BYTES, canFail: false },
  state: { size: '"NOT_NEEDED"'.length, canFail: false },
  retryAfterSeconds: { size: '-2147483648'.length, canFail: false },
  expiresAt: { size: MAX_DATE_TIME_BYTES, canFail: false },
};

const UNKNOWN: ValueBytes = { size: 256, canFail: true };
