declare const phoneNumberBrand: unique symbol;

/** An international number in E.164 form, `+` and 5 to 15 digits. Made only by {@link parsePhoneNumber}. */
export type PhoneNumber = string & { readonly [phoneNumberBrand]: true };

/** The value, or why it was refused (for people; never quotes the text). */
export type Parsed<T> =
  | { readonly kind: 'parsed'; readonly value: T }
  | { readonly kind: 'refused'; readonly reason: string };

/** Leaves room for separators between the digits. Longer texts are not worth reading. */
const MAX_TEXT_LENGTH = 1000;

const E164 = /^\+[1-9][0-9]{4,14}$/;

/**
 * Reads `+34 600-123 456` or `tel:+34600123456` as `+34600123456`. Without a `+` it is refused: a national number read as
 * international would give a true answer about a stranger.
 */
export function parsePhoneNumber(text: string): Parsed<PhoneNumber> {
  // Most are written so.
  if (isE164(text)) return { kind: 'parsed', value: text };
  if (text.length > MAX_TEXT_LENGTH) {
    return refused('A phone number is written with a few characters, not with a thousand.');
  }
  const subject = text.startsWith('tel:') ? text.slice('tel:'.length) : text;
  if (!subject.startsWith('+')) {
    return refused(
      subject.startsWith('00')
        ? 'A phone number starts with + and the country code; write + in place of the leading 00.'
        : 'A phone number starts with + and the country code.',
    );
  }
  if (subject.includes('(0)')) {
    return refused('Leave out the (0): it is not dialled from abroad.');
  }
  const digits = subject.replaceAll(/[ -]/g, '');
  if (!isE164(digits)) {
    return refused(
      'A phone number is a + followed by 5 to 15 digits, the first of them not 0; spaces and hyphens between them are allowed.',
    );
  }
  return { kind: 'parsed', value: digits };
}

export function refused(reason: string): Extract<Parsed<never>, { kind: 'refused' }> {
  return { kind: 'refused', reason };
}

function isE164(digits: string): digits is PhoneNumber {
  return E164.test(digits);
}

/** How numbers begin (`+44`, `+4477009`), or `default` for every number that no prefix fits. */
export type NumberPrefix = 'default' | `+${string}`;

/** `default`, or `+` with 1 to 14 digits. */
export const NUMBER_PREFIX = /^(?:default|\+[1-9]\d{0,13})$/;

export function isNumberPrefix(text: string): text is NumberPrefix {
  return NUMBER_PREFIX.test(text);
}

/** @param longest the length of the entries' longest prefix */
export function byLongestPrefix<T>(
  entries: ReadonlyMap<NumberPrefix, T>,
  number: PhoneNumber,
  longest = number.length,
): T | undefined {
  for (let length = Math.min(longest, number.length); length > 1; length -= 1) {
    const entry = entries.get(`+${number.slice(1, length)}`);
    if (entry !== undefined) return entry;
  }
  return entries.get('default');
}

/** A text such as `tel:{number}` with the number in it, or without its plus in place of `{digits}`. Pure. */
export function fillTemplate(template: string, number: PhoneNumber): string {
  return template.includes('{digits}')
    ? template.replace('{digits}', number.slice(1))
    : template.replace('{number}', number);
}

const RUN = /(?:\+|%2B)?\(?\d(?:(?:[\s().-]|%20){0,3}\d){4,}/gi;

/** Could be a port, or a limit: no country's numbers are this short with their area code and its zero or `+`. */
const BARE_FIVE_DIGITS = /^[1-9]\d{4}$/;

/**
 * Hides every run of five or more digits, with the signs and URL encoding that people and programs put around a phone
 * number. Five digits with nothing around them are kept, unless they start with zero: they are figures of our own.
 */
export function maskPhoneNumbers(text: string): string {
  return text.replaceAll(RUN, (run) => (BARE_FIVE_DIGITS.test(run) ? run : '[number]'));
}
