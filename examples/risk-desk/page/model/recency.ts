import type { DeskRow } from './deskRow.ts';

const DAY_MS = 24 * 60 * 60_000;

/** How long ago, and how many rows. */
export interface RecencyBar {
  readonly name: string;
  readonly rows: number;
}

const UP_TO: readonly (readonly [string, number])[] = [
  ['24 h', 1],
  ['3 days', 3],
  ['7 days', 7],
  ['30 days', 30],
  ['90 days', 90],
  ['1 year', 365],
  ['longer', Infinity],
];

/** How recent the last SIM changes are, where the operator tells their dates; each row counts once. */
export function recency(rows: readonly DeskRow[], nowMs: number): readonly RecencyBar[] {
  const counts = UP_TO.map(() => 0);
  let withheld = 0;
  for (const { state } of rows) {
    if (state.kind !== 'answered') continue;
    const { lastChange } = state.answer;
    if (lastChange.kind === 'withheld') withheld += 1;
    if (lastChange.kind !== 'at') continue;
    const days = (nowMs - lastChange.atMs) / DAY_MS;
    const bar = UP_TO.findIndex(([, upTo]) => days < upTo);
    counts[bar] = (counts[bar] ?? 0) + 1;
  }
  const dated = UP_TO.map(([name], index) => ({ name, rows: counts[index] ?? 0 }));
  return [...dated, { name: 'no date', rows: withheld }];
}
