const RUN = /(?:\+|%2B)?\(?\d(?:(?:[\s().-]|%20){0,3}\d){4,}/gi;

/** A port, or a limit: no country's numbers are that short once the area is told, with its zero or its `+`. */
const BARE_FIVE_DIGITS = /^[1-9]\d{4}$/;

/**
 * Hides every run of five or more digits, with the `+`, spaces, dots, hyphens, brackets and URL
 * encoding that people and programs put around a phone number. Five digits in a row with nothing around
 * them are left, unless they start with zero: they are numbers of our own.
 */
export function maskPhoneNumbers(text: string): string {
  return text.replaceAll(RUN, (run) => (BARE_FIVE_DIGITS.test(run) ? run : '[number]'));
}
