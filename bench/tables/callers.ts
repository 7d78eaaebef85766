import type { Cast, EntrantName } from '../cast.ts';
import { nameOf, type Workload } from '../workload.ts';
import { measure, type Case, type Plan } from './measure.ts';
import type { Table } from './table.ts';

const NAMES: readonly EntrantName[] = ['ours', 'ours again', 'ours in production'];

const WORKLOADS: readonly (readonly [Workload, Case['rounds']])[] = [
  [
    { numbers: 1, fields: 'window', concurrency: 64, requests: 600 },
    { full: 15, quick: 0 },
  ],
  [
    { numbers: 100, fields: 'window', concurrency: 2, requests: 16 },
    { full: 30, quick: 6 },
  ],
  [
    { numbers: 1000, fields: 'window', concurrency: 1, requests: 2 },
    { full: 10, quick: 0 },
  ],
];

/** What it costs to know who asks, to count what they ask, and to audit it. */
export async function measureCallers(cast: Cast, plan: Plan): Promise<Table> {
  const cases = WORKLOADS.map(([workload, rounds]) => ({
    name: nameOf(workload),
    rounds,
    entrants: () => cast.entrants(NAMES, workload),
  }));
  return {
    name: 'callers',
    title: 'Callers, audit and limits: ours in production against ours with nobody to know',
    shows: ['cpuMicrosPerNumber', 'p50Ms', 'p99Ms'],
    comparisons: [{ figure: 'cpuMicrosPerNumber', against: 'ours' }],
    rows: await measure(cast, plan, cases),
  };
}
