import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  byLongestPrefix,
  isNumberPrefix,
  type NumberPrefix,
  type PhoneNumber,
} from '../../src/domain/phoneNumber.ts';
import { ALICE } from '../values.ts';

function phoneNumber(text: string): PhoneNumber {
  return text as PhoneNumber;
}

describe('a prefix of numbers', () => {
  it.each([
    ['default', true],
    ['+4', true],
    ['+44', true],
    ['+4477009', true],
    ['+12345678901234', true],
    ['+123456789012345', false],
    ['+', false],
    ['+044', false],
    ['44', false],
    ['0044', false],
    ['+44 7700', false],
    ['+44*', false],
    ['Default', false],
    ['', false],
  ])('%j: %s', (text, is) => {
    expect(isNumberPrefix(text)).toBe(is);
  });
});

describe('the longest prefix', () => {
  const operators = new Map<NumberPrefix, string>([
    ['+44', 'a'],
    ['+4477009', 'b'],
    ['default', 'c'],
  ]);

  it.each([
    ['+447700900001', 'b'],
    ['+447700800001', 'a'],
    ['+44770', 'a'],
    ['+33600000001', 'c'],
  ])('of %s is that of %s', (number, operator) => {
    expect(byLongestPrefix(operators, phoneNumber(number))).toBe(operator);
  });

  it('is undefined without a default', () => {
    expect(byLongestPrefix(new Map([['+33', 'a']]), ALICE)).toBeUndefined();
  });

  it('is the longest of all entries that the number begins with, in any order of them', () => {
    const digits = fc.stringMatching(/^[12][12]{0,6}$/);
    fc.assert(
      fc.property(fc.uniqueArray(digits), fc.stringMatching(/^[12]{5,8}$/), (prefixes, number) => {
        const entries = new Map(prefixes.map((one) => [`+${one}` as const, one]));
        const fitting = prefixes.filter((one) => number.startsWith(one));
        const longest = fitting.toSorted((a, b) => b.length - a.length)[0];
        expect(byLongestPrefix(entries, phoneNumber(`+${number}`))).toBe(longest);
      }),
    );
  });
});
