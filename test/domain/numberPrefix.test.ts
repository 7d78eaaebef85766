import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  byLongestPrefix,
  isNumberPrefix,
  type NumberPrefix,
  type PhoneNumber,
} from '../../src/domain/phoneNumber.ts';

it('a prefix is + and up to 14 digits, or default', () => {
  const prefixes = ['default', '+4', '+4477009', '+12345678901234'];
  const others = ['+123456789012345', '+', '+044', '44', '+44 7700', '+44*', 'Default', ''];
  expect([...prefixes, ...others].filter(isNumberPrefix)).toEqual(prefixes);
});

describe('the longest prefix', () => {
  const operators = new Map<NumberPrefix, string>([
    ['+44', 'a'],
    ['default', 'c'],
  ]);

  it('is that of the default where no other fits', () => {
    expect(byLongestPrefix(operators, '+33600000001' as PhoneNumber)).toBe('c');
  });

  it('is the longest of all entries that the number begins with, in any order of them', () => {
    const digits = fc.stringMatching(/^[12][12]{0,6}$/);
    fc.assert(
      fc.property(fc.uniqueArray(digits), fc.stringMatching(/^[12]{5,8}$/), (prefixes, number) => {
        const entries = new Map(prefixes.map((one) => [`+${one}` as const, one]));
        const fitting = prefixes.filter((one) => number.startsWith(one));
        const longest = fitting.toSorted((a, b) => b.length - a.length)[0];
        expect(byLongestPrefix(entries, `+${number}` as PhoneNumber)).toBe(longest);
      }),
    );
  });
});
