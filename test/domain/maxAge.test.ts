import { describe, expect, it } from 'vitest';
import { MAX_MAX_AGE_HOURS, parseMaxAge } from '../../src/domain/maxAge.ts';

describe('parseMaxAge', () => {
  it.each([1, 2, 240, 2399, MAX_MAX_AGE_HOURS])('reads %d hours', (hours) => {
    expect(parseMaxAge(hours)).toEqual({ kind: 'parsed', value: hours });
  });

  it.each([0, -0, -1, 2401, 1e9, 0.5, 1.000001, 2400.5, NaN, Infinity, -Infinity])(
    'refuses %d',
    (hours) => {
      expect(parseMaxAge(hours)).toEqual({
        kind: 'refused',
        reason: 'maxAgeHours is a whole number from 1 to 2400.',
      });
    },
  );
});
