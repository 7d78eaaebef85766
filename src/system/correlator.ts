import { randomUUID } from 'node:crypto';
import { maskPhoneNumbers } from '../domain/phoneNumber.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const MAX_CALLERS_PART_CHARACTERS = 24;
/** The rest of a caller's correlator is ignored. */
const MAX_READ = 256;

/** What CAMARA allows a caller to send. */
const VALID = /^[\w:;./<>{}-]{1,256}$/;

/** A UUID (RFC 9562), the id of a trace, a traceparent (W3C): digits in these are not a phone number. */
const GENERATED =
  /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|(?=.*[a-f])[0-9a-f]{32}|00-(?=.*[a-f])[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2})$/i;

/** Names the operator exchanges of one request. */
export interface Correlator {
  /** Their common prefix. */
  readonly name: string;
  /** For the caller's response: what the caller sent, or `name` where that must not be repeated. */
  readonly returned: string;
  /** At most 55 letters, digits and hyphens. */
  next(): string;
}

/**
 * `<the caller's, sanitised, at most 24>-<12 random characters>-<n>` (docs/design.md, "Correlators"): unique whatever
 * the caller sends, so that a reply identifies its request. Never holds a phone number: a caller's
 * correlator goes to the operator and into logs.
 */
export function createCorrelator(callersCorrelator: string | undefined): Correlator {
  const sent = callersCorrelator ?? '';
  const clean = sent === '' ? '' : withoutNumbers(sent);
  const callersPart = clean.slice(0, MAX_CALLERS_PART_CHARACTERS);
  const random = randomCharacters();
  const prefix = callersPart === '' ? random : `${callersPart}-${random}`;
  let count = 0;
  return {
    name: prefix,
    returned: VALID.test(sent) && clean === sanitised(sent) ? sent : prefix,
    next: () => `${prefix}-${++count}`,
  };
}

function withoutNumbers(sent: string): string {
  if (GENERATED.test(sent)) return sent;
  // As it was sent, and without the characters that may separate digits.
  return sanitised(maskPhoneNumbers(sanitised(maskPhoneNumbers(sent.slice(0, MAX_READ)))));
}

function sanitised(text: string): string {
  return text.slice(0, MAX_READ).replaceAll(/[^A-Za-z0-9-]/g, '');
}

/** Where the text of a UUID has bytes of which all bits are random (RFC 9562 §5.4), but for two. */
const RANDOM_BYTES_AT = [0, 2, 4, 6, 9, 11, 24, 26, 28, 30, 32, 34];

/**
 * Twelve characters. Some are a little more likely than others, which matters only for secrets. They are taken from a
 * UUID, which Node makes in advance: as many random bytes by themselves take six times as long.
 */
function randomCharacters(): string {
  const uuid = randomUUID();
  let characters = '';
  for (const at of RANDOM_BYTES_AT) {
    characters += ALPHABET[Number.parseInt(uuid.slice(at, at + 2), 16) % ALPHABET.length];
  }
  return characters;
}
