import type { Cast } from '../cast.ts';
import { ours } from '../contestants/contestant.ts';
import { nameOf, type Workload } from '../workload.ts';
import { measure, type Candidate, type Plan } from './measure.ts';
import type { Table } from './table.ts';

const WORKLOAD: Workload = { numbers: 100, fields: 'window', concurrency: 2, requests: 16 };

/** What a query costs that comes to an error for every number. */
export async function measureFailures(cast: Cast, plan: Plan): Promise<Table> {
  const rows = ['all succeed', 'all succeed again', 'all fail'].map((name): Candidate => {
    const refusesLookups = name === 'all fail';
    return {
      name,
      async start() {
        const expected = refusesLookups ? 'failed' : 'whole';
        const entrant = await cast.entrant(name, ours(), WORKLOAD, { expected });
        return {
          name,
          async round() {
            await cast.stage.behave({ refusesLookups });
            return entrant.round();
          },
        };
      },
    };
  });
  return {
    name: 'failures',
    title: 'Numbers that the operator does not know, against those that it does',
    shows: ['cpuMicrosPerNumber', 'p50Ms', 'p99Ms'],
    comparisons: [{ figure: 'cpuMicrosPerNumber', against: 'all succeed' }],
    rows: await measure(cast, plan, 'failures', [
      { name: nameOf(WORKLOAD), rounds: { full: 20 }, rows },
    ]),
  };
}
