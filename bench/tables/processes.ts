import type { Cast } from '../cast.ts';
import { ours } from '../contestants/contestant.ts';
import { serving } from '../measure/costs.ts';
import { nameOf, type Workload } from '../workload.ts';
import { measure, type Plan } from './measure.ts';
import type { Table } from './table.ts';

/** How many there are in each row. */
const ROWS = { '1 process': 1, '1 process again': 1, '2 processes': 2, '4 processes': 4 };
/** The same for one process and for four: what comes is spread over those that there are. */
const WORKLOAD: Workload = { numbers: 100, fields: 'window', concurrency: 8, requests: 64 };

/** Whether processes beside each other are in each other's way. */
export async function measureProcesses(cast: Cast, plan: Plan): Promise<Table> {
  const rows = Object.entries(ROWS).map(([name, count]) => ({
    name,
    async start() {
      const servers = [];
      for (let instance = 1; instance <= count; instance += 1) {
        servers.push(await cast.server(ours({ instance })));
      }
      return serving(name, cast.stage, servers, WORKLOAD);
    },
  }));
  return {
    name: 'processes',
    title: 'CPU time a lookup, by how many processes of ours there are',
    shows: ['cpuMicrosPerNumber'],
    comparisons: [{ figure: 'cpuMicrosPerNumber', against: '1 process' }],
    rows: await measure(cast, plan, 'processes', [
      { name: nameOf(WORKLOAD), rounds: { full: 12 }, rows },
    ]),
  };
}
