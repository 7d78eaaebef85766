import { describe, expect, it } from 'vitest';
import { grouped, masked, readNumber, type E164 } from '../../page/model/phoneNumber.ts';

const e164 = (text: string): E164 => {
  const reading = readNumber(text);
  if (reading.kind !== 'number') throw new Error('This is no number.');
  return reading.e164;
};

describe('a number', () => {
  it.each([
    ['+447700900001'],
    [' +44 7700 900-001 '],
    ['+44\u00a07700\u2011900001'],
    ['tel:+447700900001'],
    ["'+447700900001"],
  ])('%s is +447700900001', (text) => {
    expect(readNumber(text)).toEqual({ kind: 'number', e164: '+447700900001' });
  });

  it.each([
    ['', 'empty'],
    ['   ', 'empty'],
    ['07700 900001', 'national'],
    ['447700900001', 'national'],
    ['00447700900001', 'doubleZero'],
    ['+44 (0)7700 900001', 'trunkZero'],
    ['4.4770E+11', 'spreadsheet'],
    ['4,477E11', 'spreadsheet'],
    ['+4477', 'length'],
    ['+4477009000011234', 'length'],
    ['+0447700900001', 'length'],
    ['+44 7700 90000x', 'characters'],
    ['=+447700900001', 'characters'],
  ])('%j is refused as %s', (text, why) => {
    expect(readNumber(text)).toEqual({ kind: 'bad', why });
  });
});

it.each([
  ['+447700900123', '+44 ••• ••• 123', '+44 7700 900 123'],
  ['+12015550196', '+1 ••• ••• 196', '+1 2015 550 196'],
])('%s is masked but for its ends, and grouped for reading aloud', (text, mask, groups) => {
  expect(masked(e164(text))).toBe(mask);
  expect(grouped(e164(text))).toBe(groups);
});
