import type { Cast } from '../cast.ts';

import { nameOf, type Workload } from '../workload.ts';
import { plainRows, type PlainName } from './contestants.ts';
import { hops } from './hops.ts';
import { measure, type Plan } from './measure.ts';
import type { Table } from './table.ts';

const HOP_MS = 20;
/** A token, and the lookup that it buys. */
const HOPS = 2;

const NAMES: readonly PlainName[] = [
  'raw undici',
  'ours',
  'ours again',
  'ours in production',
  'tuned Apollo',
  'mercurius',
];

/** One query at a time, so that none waits for another. */
const WORKLOADS: readonly Workload[] = [
  { numbers: 1, fields: 'window', concurrency: 1, requests: 5 },
  { numbers: 100, fields: 'window', concurrency: 1, requests: 4 },
  { numbers: 1000, fields: 'window', concurrency: 1, requests: 1 },
];

/** How long a query takes when the operator takes its time, and how long it holds the others up. */
export async function measureLatency(cast: Cast, plan: Plan): Promise<Table> {
  const cases = WORKLOADS.map((workload) => ({
    name: `${nameOf(workload)}, ${HOP_MS} ms a hop`,
    rounds: { full: 15 },
    conditions: { hopMs: HOP_MS },
    rows: [hops(HOPS * HOP_MS), ...plainRows(cast, NAMES, workload, { watchesLoop: true })],
  }));
  return {
    name: 'latency',
    title: 'How long a query takes on the plain wire, one at a time, when each reply takes 20 ms',
    shows: ['p50Ms', 'p99Ms', 'longestLoopDelayMs'],
    comparisons: [
      { figure: 'p50Ms', against: 'raw undici' },
      { figure: 'p50Ms', against: 'the hops' },
      { figure: 'p50Ms', against: 'ours' },
    ],
    rows: await measure(cast, plan, 'latency', cases),
  };
}
