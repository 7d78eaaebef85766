import type { Cast } from '../cast.ts';
import { other, ours } from '../contestants/contestant.ts';
import type { Figures } from '../measure/figures.ts';
import type { RunningServer, Stage } from '../stage.ts';
import { nameOf } from '../workload.ts';
import { measure, type Candidate, type Plan } from './measure.ts';
import { send, WORKLOAD } from './memory.ts';
import type { Table } from './table.ts';

const CONTESTANTS = { ours: ours(), 'tuned Apollo': other('tunedApollo') };

/** What a number allocates on its way, whether or not it is garbage by the end. */
export async function measureAllocations(cast: Cast, plan: Plan): Promise<Table> {
  const rows = Object.entries(CONTESTANTS).map(([name, contestant]): Candidate => ({
    name,
    async start() {
      const server = await cast.server(contestant);
      return { name, round: () => allocated(cast.stage, server) };
    },
  }));
  return {
    name: 'allocations',
    title: 'Promises, each await counted as one, and bytes that one query allocates',
    shows: ['promisesPerNumber', 'allocatedBytesPerNumber'],
    comparisons: [
      { figure: 'promisesPerNumber', against: 'ours' },
      { figure: 'allocatedBytesPerNumber', against: 'ours' },
    ],
    rows: await measure(cast, plan, 'allocations', [
      { name: nameOf(WORKLOAD), rounds: { full: 3, quick: 1 }, rows },
    ]),
  };
}

async function allocated(stage: Stage, server: RunningServer): Promise<Figures> {
  const { program } = server;
  await program.ask('startBytes');
  await send(stage, server);
  const bytes = await program.ask<number>('stopBytes');
  await program.ask('startPromises');
  await send(stage, server);
  const promises = await program.ask<number>('stopPromises');
  return {
    promisesPerNumber: promises / WORKLOAD.numbers,
    allocatedBytesPerNumber: bytes / WORKLOAD.numbers,
  };
}
