import { randomInt } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const LARGEST_CALLERS_PART = 24;
/** The most that `randomInt` can draw at a time. */
const CHARACTERS_A_DRAW = 6;

/** Names the operator exchanges of one request: each `next()` is another, all of them traceable to it. */
export interface Correlator {
  /** What all of them start with. */
  readonly name: string;
  /** At most 55 letters, digits and hyphens. */
  next(): string;
}

/**
 * `<the caller's, sanitised, at most 24>-<12 random characters>-<n>` (design §4): unique whatever
 * the caller sends, so that a reply can be told from another's.
 */
export function createCorrelator(callersCorrelator: string | undefined): Correlator {
  const callersPart = (callersCorrelator ?? '')
    .slice(0, 256)
    .replaceAll(/[^A-Za-z0-9-]/g, '')
    .slice(0, LARGEST_CALLERS_PART);
  const random = sixCharacters() + sixCharacters();
  const prefix = callersPart === '' ? random : `${callersPart}-${random}`;
  let count = 0;
  return { name: prefix, next: () => `${prefix}-${++count}` };
}

function sixCharacters(): string {
  let left = randomInt(ALPHABET.length ** CHARACTERS_A_DRAW);
  let characters = '';
  for (let count = 0; count < CHARACTERS_A_DRAW; count += 1) {
    characters += ALPHABET[left % ALPHABET.length];
    left = Math.floor(left / ALPHABET.length);
  }
  return characters;
}
