import type { FigureName, Figures } from '../measure/figures.ts';
import { ratios, spreadOf, type Spread } from '../measure/statistics.ts';

/** What was measured side by side. Plain data: a report is made from it, and goals are held against it. */
export interface Table {
  readonly name: string;
  readonly title: string;
  /** What is shown of each row, in this order. */
  readonly shows: readonly FigureName[];
  /** What each row is held against, of the rows with the same case. */
  readonly comparisons: readonly Comparison[];
  readonly rows: readonly Row[];
  /** Known once it is measured. */
  readonly circumstances?: Circumstances;
}

/** On what it was measured: enough to read the figures, and no more of the machine. */
export interface Circumstances {
  readonly date: string;
  readonly node: string;
  readonly cores: number;
  /** The load average of the minute before: what else the machine did. */
  readonly loadAtStart: number;
}

/** A figure of every row, against the same figure of one of them. */
export interface Comparison {
  readonly figure: FigureName;
  readonly against: string;
}

/** One contestant in one case. */
export interface Row {
  readonly case: string;
  readonly name: string;
  /** Each figure, round by round: the same place is the same round in all rows of a case. */
  readonly rounds: Rounds;
}

export type Rounds = Readonly<Partial<Record<FigureName, readonly number[]>>>;

/** Turns what each round came to into the rounds of each figure. */
export function roundsOf(figures: readonly Figures[]): Rounds {
  const rounds: Partial<Record<FigureName, number[]>> = {};
  for (const round of figures) {
    for (const [name, figure] of Object.entries(round) as [FigureName, number][]) {
      (rounds[name] ??= []).push(figure);
    }
  }
  return rounds;
}

/** The row of this name in this case. */
export function rowOf({ rows }: Table, caseName: string, name: string): Row | undefined {
  return rows.find((row) => row.case === caseName && row.name === name);
}

/** How a row compares, round by round; `undefined` where one of both was not measured. */
export function ratioOf(
  table: Table,
  row: Row,
  { figure, against }: Comparison,
): Spread | undefined {
  const base = rowOf(table, row.case, against)?.rounds[figure];
  const own = row.rounds[figure];
  return base && own && spreadOf(ratios(own, base));
}

/** What a row is called that is the same process as another, measured a second time in each round. */
const AGAIN = / again$/;

/**
 * How far the same process is from itself, over all cases, in the first figure that is compared: no
 * difference as small as that means anything. `undefined` where nothing was measured twice.
 */
export function noiseOf(table: Table): Spread | undefined {
  const [first] = table.comparisons;
  const all = table.rows.flatMap((row) => {
    if (first === undefined || !AGAIN.test(row.name)) return [];
    const once = rowOf(table, row.case, row.name.replace(AGAIN, ''));
    return ratios(row.rounds[first.figure] ?? [], once?.rounds[first.figure] ?? []);
  });
  return all.length === 0 ? undefined : spreadOf(all);
}
