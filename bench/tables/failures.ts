import type { Cast, EntrantName } from '../cast.ts';
import type { Figures } from '../measure/figures.ts';
import { renamed, type Entrant } from '../measure/interleave.ts';
import { nameOf, type Workload } from '../workload.ts';
import { measure, type Plan } from './measure.ts';
import type { Table } from './table.ts';

const WORKLOAD: Workload = { numbers: 100, fields: 'window', concurrency: 2, requests: 16 };

/** What a query costs that comes to an error for every number. */
export async function measureFailures(cast: Cast, plan: Plan): Promise<Table> {
  const both = async (name: EntrantName): Promise<Entrant<Figures>[]> => {
    const succeeding = await cast.entrants([name], WORKLOAD);
    const failing = await cast.entrants([name], WORKLOAD, { expected: 'failed' });
    return [
      ...succeeding.map((one) => told(one, 'all succeed')),
      ...succeeding.map((one) => told(one, 'all succeed again')),
      ...failing.map((one) => told(one, 'all fail')),
    ];
  };
  const told = (entrant: Entrant<Figures>, name: string): Entrant<Figures> => ({
    ...renamed(entrant, name),
    async round() {
      await cast.stage.behave({ refusesLookups: name === 'all fail' });
      return entrant.round();
    },
  });
  return {
    name: 'failures',
    title: 'Numbers that the operator does not know, against those that it does',
    shows: ['cpuMicrosPerNumber', 'p50Ms', 'p99Ms'],
    comparisons: [{ figure: 'cpuMicrosPerNumber', against: 'all succeed' }],
    rows: await measure(cast, plan, [
      { name: nameOf(WORKLOAD), rounds: { full: 20, quick: 3 }, entrants: () => both('ours') },
      {
        name: `${nameOf(WORKLOAD)}, in production`,
        rounds: { full: 5, quick: 0 },
        entrants: () => both('ours in production'),
      },
    ]),
  };
}
