import type { DeskRow } from './deskRow.ts';
import { outcomeOf, rankOf, verdictOf, type Outcome } from './verdict.ts';
import { asOfMs } from './windows.ts';

export const SORT_COLUMNS = [
  'line',
  'number',
  'customer',
  'lastChange',
  'verdict',
  'asOf',
] as const;
export type SortColumn = (typeof SORT_COLUMNS)[number];

/** How the table is looked at. */
export interface TableView {
  readonly search: string;
  readonly outcome: Outcome | 'all';
  readonly sort: { readonly column: SortColumn; readonly isDescending: boolean };
}

/** As the numbers were uploaded. */
export const AS_UPLOADED: TableView = {
  search: '',
  outcome: 'all',
  sort: { column: 'line', isDescending: false },
};

/** The rows that a view shows, in its order; rows that are alike stay in the order of the upload. */
export function viewed(rows: readonly DeskRow[], { search, outcome, sort }: TableView): DeskRow[] {
  const words = search.trim().toLowerCase();
  const digits = words.replace(/[\s-]/gu, '');
  const shown = rows.filter(
    (row) =>
      (outcome === 'all' || outcomeOf(verdictOf(row.state)) === outcome) &&
      (words === '' || matches(row, words, digits)),
  );
  if (sort.column === 'line') return sort.isDescending ? shown.toReversed() : shown;
  const keyed = shown.map((row) => ({ row, key: sortKey(row, sort.column) }));
  const sign = sort.isDescending ? -1 : 1;
  // What is not known stands last in both directions.
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
    if (a.key === b.key) return 0;
    return a.key < b.key ? -sign : sign;
  });
  return keyed.map(({ row }) => row);
}

function matches({ customer, e164, line }: DeskRow, words: string, digits: string): boolean {
  return (
    customer?.name.toLowerCase().includes(words) === true ||
    customer?.id.toLowerCase() === words ||
    (/^\+?[0-9]{3,}$/u.test(digits) && e164.includes(digits)) ||
    words === `line ${line}`
  );
}

function sortKey({ e164, line, customer, state }: DeskRow, column: SortColumn) {
  switch (column) {
    case 'line':
      return line;
    case 'number':
      return e164;
    case 'customer':
      return customer?.name.toLowerCase() ?? null;
    case 'verdict':
      return rankOf(verdictOf(state));
    case 'lastChange':
      return state.kind === 'answered' && state.answer.lastChange.kind === 'at'
        ? state.answer.lastChange.atMs
        : null;
    case 'asOf':
      return state.kind === 'answered' ? asOfMs(state.answer) : null;
  }
}

/** How many rows there are of each outcome. */
export function countOutcomes(rows: readonly DeskRow[]): Readonly<Record<Outcome, number>> {
  const counts = { swapped: 0, unknown: 0, consent: 0, open: 0, clear: 0 };
  for (const { state } of rows) counts[outcomeOf(verdictOf(state))] += 1;
  return counts;
}
