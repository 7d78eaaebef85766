import type { Cast } from '../cast.ts';
import { ours, type Contestant } from '../contestants/contestant.ts';
import { nameOf, type Workload } from '../workload.ts';
import { measure, row, type Plan } from './measure.ts';
import type { Table } from './table.ts';

const METRICS = { METRICS_PORT: '0' };

/** What is left out of a trace that is not recorded is what is measured here, and one in a hundred is. */
const TRACES = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' };

const CONTESTANTS: readonly (readonly [name: string, contestant: Contestant])[] = [
  ['ours', ours()],
  ['ours again', ours()],
  ['ours, metrics', ours({ settings: METRICS })],
  ['ours, traces at 1 %', ours({ settings: TRACES, isTraced: true })],
  ['ours, both', ours({ settings: { ...METRICS, ...TRACES }, isTraced: true })],
];

const WORKLOADS: readonly (readonly [Workload, { full: number; quick?: number }])[] = [
  [{ numbers: 1, fields: 'window', concurrency: 64, requests: 600 }, { full: 15 }],
  [
    { numbers: 100, fields: 'window', concurrency: 2, requests: 16 },
    { full: 30, quick: 6 },
  ],
];

/** What it costs to see the service run. */
export async function measureObservation(cast: Cast, plan: Plan): Promise<Table> {
  const cases = WORKLOADS.map(([workload, rounds]) => ({
    name: nameOf(workload),
    rounds,
    rows: CONTESTANTS.map(([name, contestant]) => row(cast, name, contestant, workload)),
  }));
  return {
    name: 'observation',
    title: 'Metrics and traces: ours with them against ours without',
    shows: ['cpuMicrosPerNumber', 'p50Ms', 'p99Ms'],
    comparisons: [{ figure: 'cpuMicrosPerNumber', against: 'ours' }],
    rows: await measure(cast, plan, 'observation', cases),
  };
}
