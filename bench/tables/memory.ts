import { setTimeout as sleep } from 'node:timers/promises';
import { EVERYBODY, type Cast, type EntrantName } from '../cast.ts';
import type { Figures } from '../measure/figures.ts';
import type { Entrant } from '../measure/interleave.ts';
import type { Gauge } from '../processes/gauge.ts';
import type { ServerUnderTest, Stage } from '../stage.ts';
import { bodyOf, nameOf, type Workload } from '../workload.ts';
import { measure, type Plan } from './measure.ts';
import type { Table } from './table.ts';

const WORKLOAD: Workload = { numbers: 1000, fields: 'window', concurrency: 1, requests: 1 };
/** Long enough to collect the garbage between two replies. */
const HOP_MS = 300;

type Served = Exclude<EntrantName, 'raw undici'>;
const NAMES = EVERYBODY.filter((name): name is Served => name !== 'raw undici');
const IN_THE_GUARD: readonly Served[] = ['ours', 'ours again'];

/** What a number holds of the heap while its query is under way. */
export async function measureMemory(cast: Cast, plan: Plan): Promise<Table> {
  const names = plan.isQuick ? IN_THE_GUARD : NAMES;
  const entrants = () =>
    Promise.all(
      names.map(async (name): Promise<Entrant<Figures>> => {
        const server = await cast.server(name);
        return { name, round: () => inFlight(cast.stage, server) };
      }),
    );
  return {
    name: 'memory',
    title: 'Heap that one query holds while it is under way, garbage collected',
    shows: ['heapBytesPerNumber'],
    comparisons: [{ figure: 'heapBytesPerNumber', against: 'ours' }],
    rows: await measure(cast, plan, [
      { name: `${nameOf(WORKLOAD)} in flight`, rounds: { full: 3, quick: 1 }, entrants },
    ]),
  };
}

/** The same query goes before: sockets and compiled code outlive it, and are nobody's in particular. */
async function inFlight(stage: Stage, server: ServerUnderTest): Promise<Figures> {
  await send(stage, server);
  const before = await heapBytes(server);
  await stage.behave({ hopMs: HOP_MS });
  const answered = send(stage, server);
  await sleep(HOP_MS / 2);
  const withTokensAsked = await heapBytes(server);
  await sleep(HOP_MS);
  const withLookupsAsked = await heapBytes(server);
  await stage.behave();
  await answered;
  const held = Math.max(withTokensAsked, withLookupsAsked) - before;
  return { heapBytesPerNumber: held / WORKLOAD.numbers };
}

async function send(stage: Stage, { url, headers }: ServerUnderTest): Promise<void> {
  const { concurrency, requests } = WORKLOAD;
  await stage.send({ urls: [url], body: bodyOf(WORKLOAD), headers, concurrency, requests });
}

async function heapBytes({ program }: ServerUnderTest): Promise<number> {
  const { heapBytes: bytes } = await program.ask<Gauge>('gauge', { collectsGarbage: true });
  return bytes;
}
