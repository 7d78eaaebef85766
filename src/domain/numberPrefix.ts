import type { PhoneNumber } from './phoneNumber.ts';

/** How numbers begin (`+44`, `+4477009`), or `default` for every number that no prefix fits. */
export type NumberPrefix = 'default' | `+${string}`;

/** `default`, or `+` with 1 to 14 digits. */
export const NUMBER_PREFIX = /^(?:default|\+[1-9]\d{0,13})$/;

export function isNumberPrefix(text: string): text is NumberPrefix {
  return NUMBER_PREFIX.test(text);
}

/**
 * What stands under the longest prefix of the number; under `default` where none fits. Pure.
 *
 * @param longest as many characters as the entries' prefixes have at most
 */
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
