import type { Cast } from '../cast.ts';
import { nameOf, type Workload } from '../workload.ts';
import { plainRows, type PlainName } from './contestants.ts';
import { measure, type Plan } from './measure.ts';
import type { Table } from './table.ts';

const NAMES: readonly PlainName[] = ['ours', 'ours again', 'ours in production'];

const WORKLOADS: readonly (readonly [Workload, { full: number; quick?: number }])[] = [
  [{ numbers: 1, fields: 'window', concurrency: 64, requests: 600 }, { full: 15 }],
  [
    { numbers: 100, fields: 'window', concurrency: 2, requests: 16 },
    { full: 30, quick: 6 },
  ],
];

/** What it costs to know who asks, to count what they ask, and to audit it. */
export async function measureCallers(cast: Cast, plan: Plan): Promise<Table> {
  const cases = WORKLOADS.map(([workload, rounds]) => ({
    name: nameOf(workload),
    rounds,
    rows: plainRows(cast, NAMES, workload),
  }));
  return {
    name: 'callers',
    title: 'Callers, quotas and audit: ours in production against ours with anonymous callers',
    shows: ['cpuMicrosPerNumber', 'p50Ms', 'p99Ms'],
    comparisons: [{ figure: 'cpuMicrosPerNumber', against: 'ours' }],
    rows: await measure(cast, plan, 'callers', cases),
  };
}
