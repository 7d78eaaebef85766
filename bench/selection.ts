import type { Goal } from './goals.ts';

/** Whether a row of a table is to be measured. */
export type Selection = (table: string, caseName: string, row: string) => boolean;

export const EVERYTHING: Selection = () => true;

/** The rows that these goals are held against, and the same contestants a second time, for the noise. */
export function rowsOf(goals: readonly Goal[]): Selection {
  const needed = new Set<string>();
  for (const { found } of goals) {
    const rows = found.over === undefined ? [found.row] : [found.row, found.over.row];
    for (const row of rows) {
      needed.add(key(found.table, found.case, row));
      needed.add(key(found.table, found.case, `${row} again`));
    }
  }
  return (...row) => needed.has(key(...row));
}

/** What all of these select. */
export function both(one: Selection, other: Selection): Selection {
  return (...row) => one(...row) && other(...row);
}

function key(...row: Parameters<Selection>): string {
  return JSON.stringify(row);
}
