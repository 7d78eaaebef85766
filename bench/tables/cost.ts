import { EVERYBODY, type Cast, type EntrantName } from '../cast.ts';
import { nameOf, type Workload } from '../workload.ts';
import { measure, type Case, type Plan } from './measure.ts';
import type { Table } from './table.ts';

/** A kind of query, how closely it is looked at, and who it is whom the guard looks at. */
interface Entry {
  readonly workload: Workload;
  readonly rounds: number;
  readonly guarded?: readonly EntrantName[];
}

const LIMIT_AND_OURS: readonly EntrantName[] = ['raw undici', 'ours', 'ours again'];
const CLOSELY = 30;
const ROUGHLY = 3;
const QUICK_ROUNDS = 3;

/**
 * A round of ours takes about 200 ms of CPU time in each. So many numbers are under way at a time that no
 * limit of anybody's is reached, but for a query of a thousand, which is over every limit by itself.
 */
const ENTRIES: readonly Entry[] = [
  {
    workload: { numbers: 1, fields: 'window', concurrency: 64, requests: 600 },
    rounds: CLOSELY,
    guarded: LIMIT_AND_OURS,
  },
  {
    workload: { numbers: 100, fields: 'window', concurrency: 2, requests: 16 },
    rounds: CLOSELY,
    guarded: LIMIT_AND_OURS,
  },
  {
    workload: { numbers: 1000, fields: 'window', concurrency: 1, requests: 2 },
    rounds: CLOSELY,
    guarded: LIMIT_AND_OURS,
  },
  {
    workload: { numbers: 1, fields: 'date and window', concurrency: 64, requests: 500 },
    rounds: CLOSELY,
  },
  roughly({ numbers: 1, fields: 'date', concurrency: 64, requests: 600 }),
  roughly({ numbers: 1, fields: 'date and three windows', concurrency: 64, requests: 400 }),
  roughly({ numbers: 10, fields: 'date', concurrency: 16, requests: 120 }),
  roughly({ numbers: 10, fields: 'window', concurrency: 16, requests: 120 }),
  roughly({ numbers: 10, fields: 'date and three windows', concurrency: 16, requests: 100 }),
  roughly({ numbers: 100, fields: 'date', concurrency: 2, requests: 16 }),
  roughly({ numbers: 100, fields: 'date and three windows', concurrency: 2, requests: 12 }),
  roughly({ numbers: 1000, fields: 'date', concurrency: 1, requests: 2 }),
  roughly({ numbers: 1000, fields: 'date and three windows', concurrency: 1, requests: 2 }),
  roughly({ numbers: 50, fields: 'window', isOneNumber: true, concurrency: 8, requests: 200 }),
];

/** At the start of its turn nobody finds its code in the caches: the longer the turn, the less that tells. */
function longer(workload: Workload): Workload {
  return { ...workload, requests: 2 * workload.requests };
}

function roughly(workload: Workload): Entry {
  return { workload, rounds: ROUGHLY };
}

/** The mix of lines: one in a hundred was swapped ten days ago. */
const MIX: Workload = {
  numbers: 100,
  fields: 'date and three windows',
  concurrency: 2,
  requests: 12,
};

/** What a number costs in CPU time, against the limit and against what a team would take instead. */
export async function measureCost(cast: Cast, plan: Plan): Promise<Table> {
  const cases = ENTRIES.map(({ workload, rounds, guarded }) => ({
    name: nameOf(workload),
    rounds: { full: rounds, quick: guarded === undefined ? 0 : QUICK_ROUNDS },
    entrants: () =>
      plan.isQuick
        ? cast.sharing(guarded ?? [], workload)
        : cast.sharing(EVERYBODY, rounds === CLOSELY ? longer(workload) : workload),
  }));
  const mix: Case = {
    name: `${nameOf(MIX)}, 1 % swapped`,
    rounds: { full: ROUGHLY, quick: 0 },
    manners: { swappedEvery: 100 },
    entrants: () => cast.sharing(EVERYBODY, MIX),
  };
  return {
    name: 'cost',
    title: 'CPU time a number, as fast as it goes',
    shows: ['cpuMicrosPerNumber', 'p50Ms', 'p99Ms'],
    comparisons: [
      { figure: 'cpuMicrosPerNumber', against: 'raw undici' },
      { figure: 'cpuMicrosPerNumber', against: 'ours' },
    ],
    rows: await measure(cast, plan, [...cases, mix]),
  };
}
