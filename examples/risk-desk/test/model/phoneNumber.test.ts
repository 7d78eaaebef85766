import { describe, expect, it } from 'vitest';
import {
  countryName,
  grouped,
  masked,
  readNumber,
  readNumbers,
  saysOfBadNumber,
  type E164,
} from '../../page/model/phoneNumber.ts';

const e164 = (text: string): E164 => {
  const reading = readNumber(text);
  if (reading.kind !== 'number') throw new Error('This is not a number.');
  return reading.e164;
};

describe('a number', () => {
  it.each([
    ['+447700900001', false],
    [' +44 7700 900-001 ', false],
    ['+44\u00a07700\u2011900001', false],
    ['\u202a+447700900001\u202c', false],
    ['\ufeff+447700900001', false],
    ['tel:+447700900001', false],
    ["'+447700900001", false],
    ['=+447700900001', false],
    ['="+447700900001"', false],
    ['+44.7700.900001', false],
    ['+44 (7700) 900001', false],
    ['+44 (0)7700 900001', true],
    // Dialled from abroad; and with an extension, which is dropped where a person sees it.
    ['00447700900001', true],
    ['0044 (0)7700 900001', true],
    ['+44 7700 900001 ext. 12', true],
    ['+447700900001x12', true],
    ['tel:+44-7700-900001;ext=12', true],
    ['+44 7700 900001 #5', true],
  ])('%j is +447700900001', (text, isCompleted) => {
    expect(readNumber(text)).toEqual({ kind: 'number', e164: '+447700900001', isCompleted });
  });

  it('keeps the zero in brackets where it belongs to it', () => {
    expect(readNumber('+39 (0)6 1234 5678')).toMatchObject({ e164: '+390612345678' });
  });

  it.each([
    ['', 'empty'],
    ['   ', 'empty'],
    ['07700 900001', 'noCountryCode'],
    ['447700900001', 'noCountryCode'],
    ['0012', 'noCountryCode'],
    ['4.4770E+11', 'spreadsheet'],
    ['4,477E11', 'spreadsheet'],
    ['+4477', 'length'],
    ['+4477009000011234', 'length'],
    ['+0447700900001', 'length'],
    ['+44 7700 90000x', 'characters'],
    ['+44 (0)7', 'notPossible'],
  ])('%j is refused as %s', (text, why) => {
    expect(readNumber(text)).toEqual({ kind: 'bad', why });
  });
});

describe('a cell', () => {
  it.each([
    ['+447700900001 / +447700900002', ['+447700900001', '+447700900002']],
    ['+44 7700 900001 or 0044 7700 900002', ['+447700900001', '+447700900002']],
    ['+447700900001;+447700900001', ['+447700900001']],
    ['+447700900001 ext 12 / +447700900002', ['+447700900001', '+447700900002']],
    ['+49 171/1234567', ['+491711234567']],
    ['+447700900001/02', 'severalNumbers'],
    // All of them or none: one that is not checked would be called unchanged.
    ['+447700900001 / 07700 900002', 'noCountryCode'],
  ])('%j is all of its numbers, or refused', (text, expected) => {
    const reading = readNumbers(text);
    expect(reading.kind === 'bad' ? reading.why : reading.e164s).toEqual(expected);
  });
});

describe('a number without +', () => {
  it.each([
    // As it was typed, without +, without the zero too, with 00, and as a number of a table.
    ['GB', '07700 900001', '+447700900001'],
    ['GB', '(07700) 900001', '+447700900001'],
    ['GB', '447700900001', '+447700900001'],
    ['GB', '7700900001', '+447700900001'],
    ['GB', '447700900001.0', '+447700900001'],
    ['US', '(200) 555-0100', '+12005550100'],
    ['US', '12005550100', '+12005550100'],
    ['US', '011447700900001', '+447700900001'],
    ['codeIncluded', '447700900001', '+447700900001'],
    ['codeIncluded', '12005550100', '+12005550100'],
  ] as const)('is completed as a person has chosen: %s, %s', (completion, text, expected) => {
    const reading = { kind: 'number', e164: expected, isCompleted: true };
    expect(readNumber(text, completion)).toEqual(reading);
    expect(readNumber(text)).toEqual({ kind: 'bad', why: 'noCountryCode' });
  });

  it.each([
    ['GB', '1500', 'notPossible'],
    ['codeIncluded', '07700900001', 'notPossible'],
    // +39 3934567890, or +39 34567890 without its +.
    ['IT', '3934567890', 'ambiguous'],
  ] as const)('is never guessed: %s, %s is %s', (completion, text, why) => {
    expect(readNumber(text, completion)).toEqual({ kind: 'bad', why });
  });
});

it.each([
  [
    '+447700900123',
    '+44 ••• ••• 123',
    '+44 7700 900123',
    'Country code +44 (United Kingdom or 3 others)',
  ],
  ['+12015550196', '+1 ••• ••• 196', '+1 201 555 0196', 'United States'],
  [
    '+12005550196',
    '+1 ••• ••• 196',
    '+1 200 555 0196',
    'Country code +1 (United States or 24 others)',
  ],
  ['+358401234567', '+358 ••• ••• 567', '+358 40 1234567', 'Finland'],
  // A code that no plan has is shown as it was typed.
  ['+999123456', '+99 ••• ••• 456', '+999123456', null],
])(
  '%s is masked but for its ends, and grouped as in its country',
  (text, mask, groups, country) => {
    expect(masked(e164(text))).toBe(mask);
    expect(grouped(e164(text))).toBe(groups);
    expect(countryName(e164(text))).toBe(country);
  },
);

it('says which characters are not part of a number', () => {
  expect(saysOfBadNumber('characters', '+44 7700 900001 ext 5')).toContain('“ext”');
});
