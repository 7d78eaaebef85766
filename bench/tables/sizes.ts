import type { Cast } from '../cast.ts';
import { ours } from '../contestants/contestant.ts';
import type { Workload } from '../workload.ts';
import { measure, row, type Plan } from './measure.ts';
import type { Table } from './table.ts';

const HUNDRED: Workload = { numbers: 100, fields: 'window', concurrency: 2, requests: 32 };
const THOUSAND: Workload = { numbers: 1000, fields: 'window', concurrency: 1, requests: 4 };

/** How what a number costs changes with how many come in a query. */
export async function measureSizes(cast: Cast, plan: Plan): Promise<Table> {
  const rows = [
    row(cast, '100 numbers', ours(), HUNDRED),
    row(cast, '100 numbers again', ours(), HUNDRED),
    row(cast, '1,000 numbers', ours(), THOUSAND),
  ];
  return {
    name: 'sizes',
    title: 'CPU time a number of ours, by the numbers of a query',
    shows: ['cpuMicrosPerNumber'],
    comparisons: [{ figure: 'cpuMicrosPerNumber', against: '100 numbers' }],
    rows: await measure(cast, plan, 'sizes', [{ name: 'window', rounds: { full: 20 }, rows }]),
  };
}
