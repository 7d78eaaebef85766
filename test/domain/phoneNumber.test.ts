import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePhoneNumber } from '../../src/domain/phoneNumber.ts';
import { anyText } from '../anyText.ts';

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
    ['a + alone', '+', NOT_E164],
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
