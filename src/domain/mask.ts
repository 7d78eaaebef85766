/**
 * Hides every run of five or more digits, with the `+`, spaces, dots, hyphens, brackets and URL
 * encoding that people and programs put around a phone number.
 */
export function maskPhoneNumbers(text: string): string {
  return text.replaceAll(/(?:\+|%2B)?\(?\d(?:(?:[\s().-]|%20){0,3}\d){4,}/gi, '[number]');
}
