import type { Cast } from '../cast.ts';
import { serving } from '../measure/costs.ts';
import { renamed } from '../measure/interleave.ts';
import type { Workload } from '../workload.ts';
import { measure, type Plan } from './measure.ts';
import type { Table } from './table.ts';

const MOST = 4;
/** Each process has two queries of a hundred numbers before it at any time. */
const QUERIES_A_PROCESS = 2;
const WORKLOAD = { numbers: 100, fields: 'window', requests: 24 } as const;

/** Whether processes beside each other are in each other's way. */
export async function measureProcesses(cast: Cast, plan: Plan): Promise<Table> {
  const entrants = async () => {
    const ours = await Promise.all(
      Array.from({ length: MOST }, (_, index) =>
        cast.kept(`process ${index + 1}`, () => cast.stage.ours()),
      ),
    );
    const together = ours.map((_, index) => {
      const servers = ours.slice(0, index + 1);
      const workload: Workload = { ...WORKLOAD, concurrency: QUERIES_A_PROCESS * servers.length };
      const name = servers.length === 1 ? '1 process' : `${servers.length} processes`;
      return serving(name, cast.stage, servers, workload);
    });
    return [...together, ...together.slice(0, 1).map((one) => renamed(one, '1 process again'))];
  };
  return {
    name: 'processes',
    title: 'CPU time a lookup, by how many processes of ours there are',
    shows: ['cpuMicrosPerNumber'],
    comparisons: [{ figure: 'cpuMicrosPerNumber', against: '1 process' }],
    rows: await measure(cast, plan, [
      { name: '100 × window', rounds: { full: 20, quick: 0 }, entrants },
    ]),
  };
}
