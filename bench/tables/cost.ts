import type { Cast } from '../cast.ts';
import { nameOf, type Workload } from '../workload.ts';
import { PLAIN_NAMES, sharedRows } from './contestants.ts';
import { measure, ONE_NUMBER_WARM_UP, type Plan, type Rounds } from './measure.ts';
import type { Table } from './table.ts';

const CLOSELY = { full: 15 };
const ONE_NUMBER = { full: 15, warmUp: ONE_NUMBER_WARM_UP };
const ROUGHLY = { full: 3 };

/**
 * A round takes about 400 ms of CPU time. So many numbers are under way at a time that no contestant's limit
 * is reached, but for a query of a thousand, which is over every limit by itself.
 */
const WORKLOADS: readonly (readonly [Workload, Rounds])[] = [
  [{ numbers: 1, fields: 'window', concurrency: 64, requests: 1200 }, ONE_NUMBER],
  [{ numbers: 100, fields: 'window', concurrency: 2, requests: 32 }, CLOSELY],
  [{ numbers: 1000, fields: 'window', concurrency: 1, requests: 4 }, CLOSELY],
  [{ numbers: 1, fields: 'date and window', concurrency: 64, requests: 1000 }, ONE_NUMBER],
  [{ numbers: 1, fields: 'date and three windows', concurrency: 64, requests: 400 }, ROUGHLY],
  [{ numbers: 100, fields: 'date and three windows', concurrency: 2, requests: 12 }, ROUGHLY],
];
const QUICK_SHARE = 0.5;

/** What a number costs in CPU time, against the limit and against what a team would take instead. */
export async function measureCost(cast: Cast, plan: Plan): Promise<Table> {
  const cases = WORKLOADS.map(([workload, rounds]) => {
    const requests = Math.round(workload.requests * (plan.isQuick ? QUICK_SHARE : 1));
    return {
      name: nameOf(workload),
      rounds,
      rows: sharedRows(cast, PLAIN_NAMES, { ...workload, requests }),
    };
  });
  return {
    name: 'cost',
    title: 'CPU time a number on the plain wire, as fast as it goes',
    shows: ['cpuMicrosPerNumber', 'p50Ms', 'p99Ms'],
    comparisons: [
      { figure: 'cpuMicrosPerNumber', against: 'raw undici' },
      { figure: 'cpuMicrosPerNumber', against: 'ours' },
    ],
    rows: await measure(cast, plan, 'cost', cases),
  };
}
