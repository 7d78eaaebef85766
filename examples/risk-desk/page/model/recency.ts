import type { DeskRow } from './deskRow.ts';
import { answerOf } from './verdict.ts';

const DAY_MS = 24 * 60 * 60_000;

/** The bars of the chart, each up to so many days. What is older is said in a sentence: it would dwarf them. */
export const RECENCY = [
  { id: 'day', name: '24 h', days: 1 },
  { id: 'threeDays', name: '3 d', days: 3 },
  { id: 'week', name: '7 d', days: 7 },
  { id: 'month', name: '30 d', days: 30 },
  { id: 'quarter', name: '90 d', days: 90 },
  { id: 'year', name: '1 y', days: 365 },
] as const;
export type RecencyId = (typeof RECENCY)[number]['id'];

/** In which bar a row is; `older` beyond them, `null` where the operator gives no date. */
export function recencyOf({ state }: DeskRow, nowMs: number): RecencyId | 'older' | null {
  const lastChange = answerOf(state)?.lastChange;
  if (lastChange?.kind !== 'at') return null;
  const ageDays = (nowMs - lastChange.atMs) / DAY_MS;
  return RECENCY.find(({ days }) => ageDays < days)?.id ?? 'older';
}

/** How recent the last SIM changes are. */
export interface Recency {
  readonly bars: Readonly<Record<RecencyId, number>>;
  readonly older: number;
  /** The operator may not disclose their dates. */
  readonly withheld: number;
}

/** Each row counts once. */
export function countRecency(rows: readonly DeskRow[], nowMs: number): Recency {
  const bars = { day: 0, threeDays: 0, week: 0, month: 0, quarter: 0, year: 0 };
  let older = 0;
  let withheld = 0;
  for (const row of rows) {
    const id = recencyOf(row, nowMs);
    if (id === 'older') older += 1;
    else if (id !== null) bars[id] += 1;
    else if (answerOf(row.state)?.lastChange.kind === 'withheld') withheld += 1;
  }
  return { bars, older, withheld };
}
