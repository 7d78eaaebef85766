import { describe, expect, test } from 'vitest';
import { retrieveDate, swappedWithin, type Line } from '../../simulator/line.ts';

const NOW_MS = Date.UTC(2026, 0, 31);
const OLD: Line = { activatedHoursAgo: 87_600 };

describe('whether a line was swapped within a window', () => {
  test.each<[string, Line, number, boolean]>([
    ['a swap inside it', { ...OLD, swappedHoursAgo: 2 }, 3, true],
    ['a swap on its edge', { ...OLD, swappedHoursAgo: 2 }, 2, true],
    ['a swap just outside', { ...OLD, swappedHoursAgo: 2.001 }, 2, false],
    ['no swap', OLD, 2400, false],
    ['an activation is no swap', { activatedHoursAgo: 1 }, 2400, false],
    ['a swap whose date is withheld', { ...OLD, swappedHoursAgo: 2, withholdsDate: true }, 2, true],
  ])('%s', (_name, line, maxAgeHours, expected) => {
    expect(swappedWithin(line, maxAgeHours)).toBe(expected);
  });
});

const at = (latestSimChange: string | null): object => ({ latestSimChange });

describe('the date of a line', () => {
  const withheld = { ...OLD, withholdsDate: true, monitoredPeriodDays: 3 };
  const monitored = { latestSimChange: null, monitoredPeriod: 3 };

  test.each<[string, Line, object]>([
    ['of its last swap', { ...OLD, swappedHoursAgo: 2 }, at('2026-01-30T22:00:00.000Z')],
    ['of its activation', { activatedHoursAgo: 24 }, at('2026-01-30T00:00:00.000Z')],
    ['withheld', { ...OLD, withholdsDate: true }, at(null)],
    ['withheld, and nothing happened', withheld, monitored],
    ['withheld, and a swap on the edge', { ...withheld, swappedHoursAgo: 72 }, at(null)],
    ['withheld, and a swap before that', { ...withheld, swappedHoursAgo: 73 }, monitored],
  ])('%s', (_name, line, expected) => {
    expect(retrieveDate(line, NOW_MS)).toEqual(expected);
  });
});
