import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskPhoneNumbers } from '../../src/domain/phoneNumber.ts';

describe('maskPhoneNumbers', () => {
  it.each([
    ['in E.164', '+447700900001'],
    ['without the +', '447700900001'],
    ['national', '07700900001'],
    ['with spaces', '+44 7700 900001'],
    ['with hyphens', '+44-7700-900-001'],
    ['with dots', '+44.7700.900.001'],
    ['with the national zero', '+44 (0)7700 900001'],
    ['with an area code in brackets', '(07700) 900 001'],
    ['with 00', '0044 7700 900001'],
    ['URL-encoded', '%2B447700900001'],
    ['URL-encoded in lower case, with spaces', '%2b44%207700%20900001'],
    ['with the shortest number, five digits', '+44770'],
  ])('hides a number written %s', (_, number) => {
    expect(maskPhoneNumbers(number)).toBe('[number]');
    const text = `Got "${number}", expected tel:${number};next`;
    expect(maskPhoneNumbers(text)).toBe('Got "[number]", expected tel:[number];next');
  });

  it.each([
    '',
    'Int cannot represent non-integer value: "abc"',
    'maxAgeHours is a whole number from 1 to 2400.',
    'Expected 1, 2 or 3.',
    '+ and - and ()',
    'PORT=40123 is in use.',
    'Syntax Error at line 1, column 65535.',
  ])('leaves words and short numbers: %j', (text) => {
    expect(maskPhoneNumbers(text)).toBe(text);
  });

  it.each(['+44770', '%2B44770', '(44770', '447 70', '44-770', '07700', '447700'])(
    'takes five digits for a number where a sign or a zero says so, and six anyway: %s',
    (number) => {
      expect(maskPhoneNumbers(number)).toBe('[number]');
    },
  );

  it('leaves no six digits in a row, and no number with its sign, wherever they are', () => {
    const piece = fc.oneof(
      fc.stringMatching(/^[0-9]{1,8}$/),
      fc.constantFrom(' ', '-', '.', '(', ')', '+', '%2B', '%20', 'a', 'é', '"', '\n'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        expect(maskPhoneNumbers(pieces.join(''))).not.toMatch(
          /\d{6}|(?:\+|%2B)\d{5}|\d{3}[ ().-]\d{3}/i,
        );
      }),
      { numRuns: 2_000 },
    );
  });
});
