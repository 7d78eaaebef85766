/** Numbers a request: one whose lookup hangs holds only so many others. */
export const PAGE_SIZE = 20;
/** Requests at a time. */
export const PAGES_AT_A_TIME = 4;

/** The date, and three checks: what four windows cost at most without failures. */
const MAX_LOOKUPS_PER_NUMBER = 4;

/** Cuts a list into pages; the last may be shorter. */
export function pagesOf<T>(list: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(list.length / PAGE_SIZE) }, (_, index) =>
    list.slice(index * PAGE_SIZE, (index + 1) * PAGE_SIZE),
  );
}

/** What checking a list costs. */
export interface Cost {
  readonly pages: number;
  /** Of the quota of numbers. */
  readonly numbers: number;
  /** Billed by the operator: one for most lines, so many at most. */
  readonly maxLookups: number;
}

export function costOf(numbers: number): Cost {
  return {
    pages: Math.ceil(numbers / PAGE_SIZE),
    numbers,
    maxLookups: numbers * MAX_LOOKUPS_PER_NUMBER,
  };
}
