import type { TestNumber } from './testNumbers.ts';

/**
 * Ten thousand lines, for lists: +1 2nn 555 01dd. The numbering plan of North America reserves 555-0100 to
 * 555-0199 for fiction in every area.
 */
const CROWD = /^\+12\d\d55501(\d\d)$/;

const DAY_HOURS = 24;
const TEN_YEARS_HOURS = 3650 * DAY_HOURS;

/** What becomes of the few that are not like the others, by their last two digits. */
const EXCEPTIONS: Readonly<Record<string, Omit<TestNumber, 'number'>>> = {
  '90': {
    does: 'never swapped, date withheld',
    line: { activatedHoursAgo: TEN_YEARS_HOURS, withholdsDate: true },
  },
  '94': {
    does: 'unknown to the operator',
    line: { activatedHoursAgo: TEN_YEARS_HOURS },
    lookup: { fault: { kind: 'refuse a lookup', refusal: 'unknown number' } },
  },
  '95': swapped(2, '2 hours ago'),
  '96': swapped(20, '20 hours ago'),
  '97': swapped(60, '60 hours ago'),
  '98': swapped(5 * DAY_HOURS, '5 days ago'),
  '99': swapped(20 * DAY_HOURS, '20 days ago'),
};

const LIKE_THE_OTHERS: Omit<TestNumber, 'number'> = {
  does: 'never swapped, activated 10 years ago',
  line: { activatedHoursAgo: TEN_YEARS_HOURS },
};

/** What a number of the crowd does; `undefined` for any other. */
export function findInCrowd(number: string): TestNumber | undefined {
  const [, lastDigits] = CROWD.exec(number) ?? [];
  if (lastDigits === undefined) return undefined;
  return { number, ...(EXCEPTIONS[lastDigits] ?? LIKE_THE_OTHERS) };
}

function swapped(hoursAgo: number, ago: string): Omit<TestNumber, 'number'> {
  return {
    does: `SIM swapped ${ago}`,
    line: { activatedHoursAgo: TEN_YEARS_HOURS, swappedHoursAgo: hoursAgo },
  };
}
