import type { Cast } from '../cast.ts';
import type { Contestant } from '../contestants/contestant.ts';
import type { Terms } from '../measure/costs.ts';
import type { Figures } from '../measure/figures.ts';
import { interleave, type Entrant } from '../measure/interleave.ts';
import type { Selection } from '../selection.ts';
import type { Conditions } from '../stage.ts';
import type { Workload } from '../workload.ts';
import { roundsOf, type Row } from './table.ts';

/** How thoroughly to measure, and what. */
export interface Plan {
  readonly isQuick: boolean;
  readonly selects: Selection;
  /** In place of every case's own number of rounds. */
  readonly rounds?: number;
  readonly sustainedMinutes: number;
  /** Hears what is measured next. */
  readonly announce: (text: string) => void;
}

/** Measures what one table shows. */
export type Measurement<T> = (cast: Cast, plan: Plan) => Promise<T>;

/** The guard takes fewer. */
export interface Rounds {
  readonly full: number;
  readonly quick?: number;
  /** So many are not counted, one where left out; the guard has no time for more. */
  readonly warmUp?: number;
}

/**
 * A query of one number runs other code than the lists that every contestant warms up with: before it is compiled, it
 * costs up to twice as much.
 */
export const ONE_NUMBER_WARM_UP = 12;

/** What is measured side by side, under one name. */
export interface Case {
  readonly name: string;
  readonly rounds: Rounds;
  readonly conditions?: Partial<Conditions>;
  readonly rows: readonly Candidate[];
}

/** A row that can be measured: what it takes is started only if it is selected. */
export interface Candidate {
  readonly name: string;
  start(): Promise<Entrant<Figures>>;
}

const QUICK_ROUNDS = 3;

/** A contestant as a row, under its name in the table. */
export function row(
  cast: Cast,
  name: string,
  contestant: Contestant,
  workload: Workload,
  terms?: Terms,
): Candidate {
  return { name, start: () => cast.entrant(name, contestant, workload, terms) };
}

/** Measures the selected rows of a table, case by case; in each, they take turns. */
export async function measure(
  cast: Cast,
  plan: Plan,
  table: string,
  cases: readonly Case[],
): Promise<Row[]> {
  const measured: Row[] = [];
  for (const { name, rounds, conditions, rows } of cases) {
    const selected = rows.filter((one) => plan.selects(table, name, one.name));
    if (selected.length === 0) continue;
    plan.announce(`${table}: ${name}`);
    await cast.stage.behave();
    // One after the other: on two cores, contestants that warm up together learn little.
    const entrants: Entrant<Figures>[] = [];
    for (const one of selected) entrants.push(await one.start());
    await cast.stage.behave(conditions);
    const own = plan.isQuick ? (rounds.quick ?? QUICK_ROUNDS) : rounds.full;
    const figures = await interleave(
      entrants,
      plan.rounds ?? own,
      plan.isQuick ? 1 : rounds.warmUp,
    );
    for (const [entrant, all] of figures) {
      measured.push({ case: name, name: entrant, rounds: roundsOf(all) });
    }
  }
  return measured;
}
