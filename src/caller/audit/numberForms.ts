import type { PhoneNumber } from '../../domain/phoneNumber.ts';

/** What may be between two digits of a number. */
const BETWEEN = String.raw`[\s().\/_\u2010-\u2015-]{0,3}`;

/** Five digits after a +, or seven without one. */
const NUMBER = new RegExp(
  String.raw`\+${BETWEEN}\d(?:${BETWEEN}\d){4,}|\d(?:${BETWEEN}\d){6,}`,
  'g',
);

/** Including an exit code, a country code and a (0), none of which is dropped here. */
const MAX_DIGITS = 19;

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;

/**
 * The digits of everything in a text that looks like a phone number: as a URI, with an exit code, in national form, with
 * separators, in digits of other scripts. Leading zeros are dropped.
 */
export function numbersIn(text: string): readonly string[] {
  const plain = withPlainDigits(text).replaceAll(UUID, ' ');
  return Array.from(plain.matchAll(NUMBER), ([found]) => found.replaceAll(/\D/g, ''))
    .filter((digits) => digits.length <= MAX_DIGITS)
    .map((digits) => digits.replace(/^0+/, ''));
}

/**
 * The results of {@link numbersIn} for every way to write a number. A country code has one to three digits, and a
 * national form does not name its country.
 */
export function formsOf(number: PhoneNumber): ReadonlySet<string> {
  const digits = number.slice(1);
  const codes = [1, 2, 3].map((length) => digits.slice(0, length));
  const national = codes.map((code) => digits.slice(code.length).replace(/^0+/, ''));
  const withTrunkZero = codes.map((code) => `${code}0${digits.slice(code.length)}`);
  return new Set([digits, `11${digits}`, ...national, ...withTrunkZero]);
}

/** Whether a name may be a person's number: it consists of little else, or has as many digits as most numbers. */
export function mayBeNumber(name: string): boolean {
  const mostlyDigits = /^(?:[a-z][a-z0-9.-]*:)?[^a-z0-9]*\d[^a-z@]{4,}(?:@.*)?$/is;
  return (
    mostlyDigits.test(withPlainDigits(name)) || numbersIn(name).some(({ length }) => length >= 9)
  );
}

/** Decoded, normalised (NFKC), without invisible characters, with ASCII digits. */
function withPlainDigits(text: string): string {
  return decoded(text)
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/\p{Nd}/gu, digitOf);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** In Unicode the ten digits of a script follow each other from 0; such rows may be adjacent. */
function digitOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  let first = code;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(first - 1))) first -= 1;
  return String((code - first) % 10);
}
