import type { Cast } from '../cast.ts';
import { serving } from '../measure/costs.ts';
import { renamed } from '../measure/interleave.ts';
import { nameOf, type Workload } from '../workload.ts';
import { measure, type Plan } from './measure.ts';
import type { Table } from './table.ts';

const MOST = 4;
/** The same for one process and for four: what comes is spread over those that there are. */
const WORKLOAD: Workload = { numbers: 100, fields: 'window', concurrency: 8, requests: 64 };

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
      const name = servers.length === 1 ? '1 process' : `${servers.length} processes`;
      return serving(name, cast.stage, servers, WORKLOAD);
    });
    return [...together, ...together.slice(0, 1).map((one) => renamed(one, '1 process again'))];
  };
  return {
    name: 'processes',
    title: 'CPU time a lookup, by how many processes of ours there are',
    shows: ['cpuMicrosPerNumber'],
    comparisons: [{ figure: 'cpuMicrosPerNumber', against: '1 process' }],
    rows: await measure(cast, plan, [
      { name: nameOf(WORKLOAD), rounds: { full: 20, quick: 0 }, entrants },
    ]),
  };
}
