import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseInstant } from '../../src/domain/instant.ts';

describe('parseInstant', () => {
  it.each([
    ['UTC', '2026-01-15T12:00:00Z', '2026-01-15T12:00:00.000Z'],
    ['an offset ahead of UTC', '2026-01-15T14:00:00+02:00', '2026-01-15T12:00:00.000Z'],
    ['an offset behind UTC', '2026-01-15T08:30:00-03:30', '2026-01-15T12:00:00.000Z'],
    ['an offset over midnight', '2026-01-01T00:30:00+01:00', '2025-12-31T23:30:00.000Z'],
    ['an unknown local offset', '2026-01-15T12:00:00-00:00', '2026-01-15T12:00:00.000Z'],
    ['the largest offset', '2026-01-15T23:59:00+23:59', '2026-01-15T00:00:00.000Z'],
    ['lower-case t and z', '2026-01-15t12:00:00z', '2026-01-15T12:00:00.000Z'],
    ['one digit of a second', '2026-01-15T12:00:00.5Z', '2026-01-15T12:00:00.500Z'],
    ['nanoseconds, cut', '2026-01-15T12:00:00.999999999Z', '2026-01-15T12:00:00.999Z'],
    ['29 February of a leap year', '2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['29 February of 2000', '2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['the last second of a day', '2026-01-15T23:59:59Z', '2026-01-15T23:59:59.000Z'],
  ])('reads %s and keeps its text, in capitals', (_, text, utc) => {
    expect(parseInstant(text)).toEqual({ text: text.toUpperCase(), epochMs: Date.parse(utc) });
  });

  it.each([
    ['no zone', '2026-01-15T12:00:00'],
    ['a zone by name', '2026-01-15T12:00:00 CET'],
    ['a zone without a colon', '2026-01-15T12:00:00+0200'],
    ['a zone of only hours', '2026-01-15T12:00:00+02'],
    ['a zone of 24 hours', '2026-01-15T12:00:00+24:00'],
    ['a zone of 60 minutes', '2026-01-15T12:00:00+01:60'],
    ['only a date', '2026-01-15'],
    ['no seconds', '2026-01-15T12:00Z'],
    ['a space for the T', '2026-01-15 12:00:00Z'],
    ['31 April', '2026-04-31T12:00:00Z'],
    ['29 February of a common year', '2026-02-29T12:00:00Z'],
    ['29 February of 1900', '1900-02-29T12:00:00Z'],
    ['month 13', '2026-13-15T12:00:00Z'],
    ['day 32', '2026-01-32T12:00:00Z'],
    ['24:00', '2026-01-15T24:00:00Z'],
    ['minute 60', '2026-01-15T12:60:00Z'],
    ['a leap second, which milliseconds since 1970 do not have', '2016-12-31T23:59:60Z'],
    ['ten digits of a second', '2026-01-15T12:00:00.1234567890Z'],
    ['a fraction without digits', '2026-01-15T12:00:00.Z'],
    ['a fraction after a comma', '2026-01-15T12:00:00,5Z'],
    ['a year of two digits', '26-01-15T12:00:00Z'],
    ['a year of six digits', '+002026-01-15T12:00:00Z'],
    ['a year before 100', '0026-01-15T12:00:00Z'],
    ['spaces around', ' 2026-01-15T12:00:00Z '],
    ['a line break at the end', '2026-01-15T12:00:00Z\n'],
    ['nothing', ''],
  ])('refuses %s', (_, text) => {
    expect(parseInstant(text)).toBeUndefined();
  });

  it('agrees with Date on every millisecond', () => {
    const [min, max] = [new Date('1000-01-01T00:00:00Z'), new Date('9999-12-31T23:59:59Z')];
    fc.assert(
      fc.property(fc.date({ min, max, noInvalidDate: true }), (date) => {
        expect(parseInstant(date.toISOString())?.epochMs).toBe(date.getTime());
      }),
      { numRuns: 2_000 },
    );
  });
});
