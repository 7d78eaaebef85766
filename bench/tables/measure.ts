import type { Cast } from '../cast.ts';
import type { Figures } from '../measure/figures.ts';
import { interleave, type Entrant } from '../measure/interleave.ts';
import type { OperatorManners } from '../operator/manners.ts';
import { roundsOf, type Row } from './table.ts';

/** How thoroughly to measure. */
export interface Plan {
  /** Only what the guard looks at. */
  readonly isQuick: boolean;
  /** In place of every case's own number of rounds. */
  readonly rounds?: number;
  readonly sustainedMinutes: number;
  /** Hears what is measured next. */
  readonly announce: (text: string) => void;
}

/** Measures what one table shows. */
export type Measurement<T> = (cast: Cast, plan: Plan) => Promise<T>;

/** What is measured side by side, under one name. */
export interface Case {
  readonly name: string;
  /** The guard leaves out a case that gives it no rounds. */
  readonly rounds: { readonly full: number; readonly quick: number };
  readonly manners?: Partial<OperatorManners>;
  /** Starts whoever takes part. */
  entrants(): Promise<readonly Entrant<Figures>[]>;
}

/** Measures case by case; in each, everybody takes turns. */
export async function measure(cast: Cast, plan: Plan, cases: readonly Case[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const one of cases) {
    const { name, rounds, manners } = one;
    const own = plan.isQuick ? rounds.quick : rounds.full;
    if (own === 0) continue;
    plan.announce(name);
    await cast.stage.behave();
    const entrants = await one.entrants();
    await cast.stage.behave(manners);
    const figures = await interleave(entrants, plan.rounds ?? own);
    for (const [entrant, all] of figures) {
      rows.push({ case: name, name: entrant, rounds: roundsOf(all) });
    }
  }
  return rows;
}
