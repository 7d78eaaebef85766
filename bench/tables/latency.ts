import type { Cast, EntrantName } from '../cast.ts';
import { hops } from '../measure/hops.ts';
import { nameOf, type Workload } from '../workload.ts';
import { measure, type Plan } from './measure.ts';
import type { Table } from './table.ts';

/** A token, and the lookup that it buys. */
const HOPS = 2;

const NAMES: readonly EntrantName[] = [
  'raw undici',
  'ours',
  'ours again',
  'ours in production',
  'mercurius',
];
const IN_THE_GUARD: readonly EntrantName[] = ['raw undici', 'ours', 'ours again'];

/** One query at a time, so that none waits for another. */
const WORKLOADS: readonly Workload[] = [
  { numbers: 1, fields: 'window', concurrency: 1, requests: 5 },
  { numbers: 100, fields: 'window', concurrency: 1, requests: 4 },
  { numbers: 1000, fields: 'window', concurrency: 1, requests: 1 },
];

/** How long a query takes when the operator takes its time, and how long it holds everybody else up. */
export async function measureLatency(cast: Cast, plan: Plan): Promise<Table> {
  const names = plan.isQuick ? IN_THE_GUARD : NAMES;
  const at = (hopMs: number, rounds: { readonly full: number; readonly quick: number }) =>
    WORKLOADS.map((workload) => ({
      name: `${nameOf(workload)}, ${hopMs} ms a hop`,
      rounds,
      manners: { hopMs },
      entrants: async () => [
        hops(HOPS * hopMs),
        ...(await cast.entrants(names, workload, { watchesLoop: true })),
      ],
    }));
  return {
    name: 'latency',
    title: 'How long a query takes, one at a time',
    shows: ['p50Ms', 'p99Ms', 'longestLoopDelayMs'],
    comparisons: [
      { figure: 'p50Ms', against: 'raw undici' },
      { figure: 'p50Ms', against: 'the hops' },
      { figure: 'p50Ms', against: 'ours' },
    ],
    rows: await measure(cast, plan, [
      ...at(20, { full: 30, quick: 3 }),
      ...at(40, { full: 4, quick: 0 }),
    ]),
  };
}
