import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  byLongestPrefix,
  isNumberPrefix,
  maskPhoneNumbers,
  parsePhoneNumber,
  type NumberPrefix,
  type PhoneNumber,
} from '../../src/domain/phoneNumber.ts';
import { anyText } from '../support/anyText.ts';

const NO_PLUS = 'A phone number starts with + and the country code.';
const LEADING_00 =
  'A phone number starts with + and the country code; write + in place of the leading 00.';
const TRUNK_ZERO = 'Leave out the (0): it is not dialled from abroad.';
const NOT_E164 =
  'A phone number is a + followed by 5 to 15 digits, the first of them not 0; spaces and hyphens between them are allowed.';

describe('parsePhoneNumber', () => {
  it.each([
    ['an international number', '+34600123456', '+34600123456'],
    ['spaces and hyphens', '+34 600-123 456', '+34600123456'],
    ['a tel URI', 'tel:+34600123456', '+34600123456'],
    ['a tel URI with visual separators', 'tel:+34-600-123-456', '+34600123456'],
    ['separators at either end', '+ 447700900001- ', '+447700900001'],
    ['the fewest digits, 5', '+44770', '+44770'],
    ['the most digits, 15', '+447700900001234', '+447700900001234'],
  ])('reads %s', (_, text, number) => {
    expect(parsePhoneNumber(text)).toEqual({ kind: 'parsed', value: number });
  });

  it.each([
    ['nothing', '', NO_PLUS],
    ['bare digits, which may be national', '34600123456', NO_PLUS],
    ['a national number', '600123456', NO_PLUS],
    ['a space before the +', ' +447700900001', NO_PLUS],
    ['another scheme', 'sip:+447700900001', NO_PLUS],
    ['a + that is encoded', '%2B447700900001', NO_PLUS],
    ['a full-width +', '\uff0b447700900001', NO_PLUS],
    ['00 instead of +', '0034600123456', LEADING_00],
    ['the national zero in brackets', '+44 (0)7700 900001', TRUNK_ZERO],
    ['only a +', '+', NOT_E164],
    ['4 digits', '+4477', NOT_E164],
    ['16 digits', '+4477009000012345', NOT_E164],
    ['a country code that starts with 0', '+0447700900001', NOT_E164],
    ['a + amid the digits', '+44+7700900001', NOT_E164],
    ['letters', '+44 7700 CALLME', NOT_E164],
    ['brackets', '+44 (7700) 900001', NOT_E164],
    ['an extension', 'tel:+447700900001;ext=12', NOT_E164],
    ['a line break at the end', '+447700900001\n', NOT_E164],
    ['dots', '+44.7700.900001', NOT_E164],
    ['a tab', '+44\t7700900001', NOT_E164],
    ['a no-break space', '+44\u00a07700900001', NOT_E164],
    ['digits of another script', '+44\u0667\u0667\u0660\u0660\u0669\u0660', NOT_E164],
    ['a tel URI in a tel URI', 'tel:tel:+447700900001', NO_PLUS],
  ])('refuses %s', (_, text, reason) => {
    expect(parsePhoneNumber(text)).toEqual({ kind: 'refused', reason });
  });

  it('yields + and 5 to 15 digits, or one of its four reasons, which quote nothing', () => {
    const reasons = [NO_PLUS, LEADING_00, TRUNK_ZERO, NOT_E164];
    const nearlyNumber = fc.stringMatching(/^(tel:)?\+?(00)?[0-9 ()+-]{0,20}$/);
    fc.assert(
      fc.property(fc.oneof(anyText(), nearlyNumber), (text) => {
        const parsed = parsePhoneNumber(text);
        const isRight =
          parsed.kind === 'parsed'
            ? /^\+[1-9][0-9]{4,14}$/.test(parsed.value)
            : reasons.includes(parsed.reason);
        expect(isRight).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

it('a prefix is + and up to 14 digits, or default', () => {
  const prefixes = ['default', '+4', '+4477009', '+12345678901234'];
  const others = ['+123456789012345', '+', '+044', '44', '+44 7700', '+44*', 'Default', ''];
  expect([...prefixes, ...others].filter(isNumberPrefix)).toEqual(prefixes);
});

it('a number has the longest prefix that it begins with, in any order, or else the default', () => {
  const digits = fc.stringMatching(/^[12][12]{0,6}$/);
  fc.assert(
    fc.property(fc.uniqueArray(digits), fc.stringMatching(/^[12]{5,8}$/), (prefixes, number) => {
      const entries = new Map<NumberPrefix, string>(prefixes.map((one) => [`+${one}`, one]));
      entries.set('default', 'none');
      const fitting = prefixes.filter((one) => number.startsWith(one));
      const [longest = 'none'] = fitting.toSorted((a, b) => b.length - a.length);
      expect(byLongestPrefix(entries, `+${number}` as PhoneNumber)).toBe(longest);
    }),
  );
});

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
