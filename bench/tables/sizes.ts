import type { Cast } from '../cast.ts';
import { renamed } from '../measure/interleave.ts';
import type { Workload } from '../workload.ts';
import { measure, type Plan } from './measure.ts';
import type { Table } from './table.ts';

const SIZES: readonly (readonly [
  string,
  Pick<Workload, 'numbers' | 'concurrency' | 'requests'>,
])[] = [
  ['100 numbers', { numbers: 100, concurrency: 2, requests: 32 }],
  ['100 numbers again', { numbers: 100, concurrency: 2, requests: 32 }],
  ['1,000 numbers', { numbers: 1000, concurrency: 1, requests: 4 }],
  ['10 numbers', { numbers: 10, concurrency: 16, requests: 120 }],
  ['1 number', { numbers: 1, concurrency: 64, requests: 600 }],
];
/** The first three. */
const IN_THE_GUARD = 3;

/** How what a number costs changes with how many come in a query. */
export async function measureSizes(cast: Cast, plan: Plan): Promise<Table> {
  const sizes = plan.isQuick ? SIZES.slice(0, IN_THE_GUARD) : SIZES;
  const entrants = async () => {
    const measured = sizes.map(async ([name, size]) => {
      const ours = await cast.entrants(['ours'], { ...size, fields: 'window' });
      return ours.map((one) => renamed(one, name));
    });
    return (await Promise.all(measured)).flat();
  };
  return {
    name: 'sizes',
    title: 'CPU time a number of ours, by the numbers of a query',
    shows: ['cpuMicrosPerNumber'],
    comparisons: [{ figure: 'cpuMicrosPerNumber', against: '100 numbers' }],
    rows: await measure(cast, plan, [{ name: 'window', rounds: { full: 30, quick: 3 }, entrants }]),
  };
}
