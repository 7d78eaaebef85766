import type { DeskRow } from './deskRow.ts';
import type { TableRow } from './upload.ts';
import { answerOf, outcomeOf, rankOf, verdictOf, type Outcome } from './verdict.ts';
import { asOfMs } from './windows.ts';

export const SORT_COLUMNS = ['line', 'number', 'customer', 'lastChange', 'risk', 'asOf'] as const;
/** One of ours, or one of the list's own. */
export type SortColumn = (typeof SORT_COLUMNS)[number] | OwnColumn;
export type OwnColumn = `own${number}`;

/** Which rows are shown: those of one tile, or all of them. */
export type RowFilter =
  { readonly kind: 'all' } | { readonly kind: 'outcome'; readonly outcome: Outcome };

/** How the table is looked at. */
export interface TableView {
  readonly search: string;
  /** The list's own columns that are shown: a search looks into these too. */
  readonly own: readonly number[];
  readonly filter: RowFilter;
  readonly sort: { readonly column: SortColumn; readonly isDescending: boolean };
}

/** What is most pressing first. */
export const BY_RISK: TableView = {
  search: '',
  own: [],
  filter: { kind: 'all' },
  sort: { column: 'risk', isDescending: false },
};

/** The rows that a view shows, in its order; rows that are alike stay in the order of the upload. */
export function viewed(
  rows: readonly DeskRow[],
  { search, own, filter, sort }: TableView,
): DeskRow[] {
  const words = search.trim().toLowerCase();
  const digits = words.replace(/[\s-]/gu, '');
  const shown = rows.filter(
    (row) => isIn(filter, row) && (words === '' || matches(row, words, digits, own)),
  );
  if (sort.column === 'line') return sort.isDescending ? shown.toReversed() : shown;
  if (sort.column === 'risk') return byRisk(shown, sort.isDescending);
  const { column, isDescending } = sort;
  if (isOwn(column)) return byOwn(shown, Number(column.slice(3)), isDescending);
  const keyed = shown.map((row) => ({ row, key: sortKey(row, column) }));
  const sign = isDescending ? -1 : 1;
  // What is not known is last in both directions.
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
    if (a.key === b.key) return 0;
    return a.key < b.key ? -sign : sign;
  });
  return keyed.map(({ row }) => row);
}

function isIn(filter: RowFilter, row: DeskRow): boolean {
  switch (filter.kind) {
    case 'all':
      return true;
    case 'outcome':
      return outcomeOf(verdictOf(row.state)) === filter.outcome;
  }
}

function matches(
  { customer, e164, own: rows }: DeskRow,
  words: string,
  digits: string,
  own: readonly number[],
): boolean {
  return (
    customer?.name.toLowerCase().includes(words) === true ||
    customer?.id.toLowerCase() === words ||
    (/^\+?[0-9]{3,}$/u.test(digits) && e164.includes(digits)) ||
    rows.some(
      ({ line, cells }) =>
        words === `line ${line}` ||
        own.some((index) => cells[index]?.toLowerCase().includes(words) === true),
    )
  );
}

function isOwn(column: SortColumn): column is OwnColumn {
  return column.startsWith('own');
}

/** What a list's own column says of a number: of its first row that has anything there. */
export function ownCell(own: readonly TableRow[], index: number): string {
  return own.find(({ cells }) => (cells[index] ?? '') !== '')?.cells[index] ?? '';
}

/** Amounts as amounts, all else as words; empty cells are last in both directions. */
const WORDS_AND_AMOUNTS = new Intl.Collator('en', { numeric: true });

function byOwn(rows: readonly DeskRow[], index: number, isDescending: boolean): DeskRow[] {
  const sign = isDescending ? -1 : 1;
  return rows
    .map((row) => ({ row, key: ownCell(row.own, index) }))
    .toSorted((a, b) =>
      a.key === '' || b.key === ''
        ? Number(a.key === '') - Number(b.key === '')
        : sign * WORDS_AND_AMOUNTS.compare(a.key, b.key),
    )
    .map(({ row }) => row);
}

/** By verdict, and within a verdict the latest change first. There are few verdicts: no sort of ten thousand. */
function byRisk(rows: readonly DeskRow[], isDescending: boolean): DeskRow[] {
  const byRank = new Map<number, DeskRow[]>();
  for (const row of rows) {
    const rank = rankOf(verdictOf(row.state));
    const alike = byRank.get(rank);
    if (alike === undefined) byRank.set(rank, [row]);
    else alike.push(row);
  }
  const ranks = [...byRank.keys()].toSorted((a, b) => a - b);
  const ordered = ranks.flatMap((rank) => {
    const alike = byRank.get(rank) ?? [];
    const isChange = rank < rankOf({ kind: 'unknown', reason: '', clearHours: null });
    return isChange ? alike.toSorted((a, b) => changedAtMs(b) - changedAtMs(a)) : alike;
  });
  return isDescending ? ordered.toReversed() : ordered;
}

/** Without a date, after those with one. */
function changedAtMs({ state }: DeskRow): number {
  const lastChange = answerOf(state)?.lastChange;
  return lastChange?.kind === 'at' ? lastChange.atMs : 0;
}

function sortKey(
  { e164, customer, state }: DeskRow,
  column: Exclude<SortColumn, 'line' | 'risk' | OwnColumn>,
): string | number | null {
  const answer = answerOf(state);
  switch (column) {
    case 'number':
      return e164;
    case 'customer':
      return customer?.name.toLowerCase() ?? null;
    case 'lastChange':
      return answer?.lastChange.kind === 'at' ? answer.lastChange.atMs : null;
    case 'asOf':
      return answer === undefined ? null : asOfMs(answer);
  }
}

/** How many rows there are of each outcome. */
export function countOutcomes(rows: readonly DeskRow[]): Readonly<Record<Outcome, number>> {
  const counts = {
    within24h: 0,
    within72h: 0,
    within7d: 0,
    within30d: 0,
    activated: 0,
    unknown: 0,
    consent: 0,
    open: 0,
    clear: 0,
  };
  for (const { state } of rows) counts[outcomeOf(verdictOf(state))] += 1;
  return counts;
}
