import type { Cast } from '../cast.ts';
import { ours, type Contestant } from '../contestants/contestant.ts';
import { nameOf, type Workload } from '../workload.ts';
import { measure, row, type Plan, type Rounds } from './measure.ts';
import type { Table } from './table.ts';

const METRICS = { METRICS_PORT: '0' };

/** What is left out of a trace that is not recorded is what is measured here, and one in a hundred is. */
const TRACES = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' };

/** Each has what the one before it has. */
const CONTESTANTS: readonly (readonly [name: string, contestant: Contestant])[] = [
  ['ours', ours()],
  ['ours again', ours()],
  ["ours, callers' tokens", ours({ production: 'tokens' })],
  ['ours, and the audit log', ours({ production: 'audit' })],
  ['ours in production', ours({ production: 'whole' })],
  ['ours in production again', ours({ production: 'whole' })],
  ['ours in production, metrics', ours({ production: 'whole', settings: METRICS })],
  [
    'ours in production, and traces at 1 %',
    ours({ production: 'whole', settings: { ...METRICS, ...TRACES }, isTraced: true }),
  ],
];

const WORKLOADS: readonly (readonly [Workload, Rounds])[] = [
  [
    { numbers: 1, fields: 'window', concurrency: 64, requests: 4000 },
    { full: 12, warmUp: 4 },
  ],
  [
    { numbers: 100, fields: 'window', concurrency: 2, requests: 16 },
    { full: 30, quick: 6 },
  ],
  [{ numbers: 1000, fields: 'window', concurrency: 1, requests: 2 }, { full: 20 }],
];

/** What it costs as deploy/ runs it: to know who asks, to audit and to count that in Redis, and to see it run. */
export async function measureProduction(cast: Cast, plan: Plan): Promise<Table> {
  const cases = WORKLOADS.map(([workload, rounds]) => ({
    name: nameOf(workload),
    rounds,
    rows: CONTESTANTS.map(([name, contestant]) => row(cast, name, contestant, workload)),
  }));
  return {
    name: 'production',
    title: 'What production costs: ours as deploy/ runs it against ours with anonymous callers',
    shows: ['cpuMicrosPerNumber', 'p50Ms', 'p99Ms', 'scriptsPerQuery', 'redisMicrosPerNumber'],
    comparisons: [
      { figure: 'cpuMicrosPerNumber', against: 'ours' },
      { figure: 'cpuMicrosPerNumber', against: 'ours in production' },
    ],
    rows: await measure(cast, plan, 'production', cases),
  };
}
