import { setTimeout as sleep } from 'node:timers/promises';
import type { Cast } from '../cast.ts';
import type { Figures } from '../measure/figures.ts';
import type { Gauge } from '../processes/gauge.ts';
import type { RunningServer, Stage } from '../stage.ts';
import { bodyOf, nameOf, type Workload } from '../workload.ts';
import { PLAIN, PLAIN_NAMES } from './contestants.ts';
import { measure, type Candidate, type Plan } from './measure.ts';
import type { Table } from './table.ts';

export const WORKLOAD: Workload = { numbers: 1000, fields: 'window', concurrency: 1, requests: 1 };
/** Long enough to collect the garbage between two replies. */
const HOP_MS = 300;

/** What a number holds of the heap while its query is under way. */
export async function measureMemory(cast: Cast, plan: Plan): Promise<Table> {
  const rows = PLAIN_NAMES.flatMap((name): Candidate[] => {
    const contestant = PLAIN[name];
    if (contestant.kind === 'raw') return [];
    return [
      {
        name,
        async start() {
          const server = await cast.server(contestant);
          return { name, round: () => inFlight(cast.stage, server) };
        },
      },
    ];
  });
  return {
    name: 'memory',
    title: 'Heap that one query holds while it is under way, garbage collected',
    shows: ['heapBytesPerNumber'],
    comparisons: [{ figure: 'heapBytesPerNumber', against: 'ours' }],
    rows: await measure(cast, plan, 'memory', [
      { name: `${nameOf(WORKLOAD)} in flight`, rounds: { full: 3, quick: 1 }, rows },
    ]),
  };
}

/** The same query goes before: sockets and compiled code outlive it. */
async function inFlight(stage: Stage, server: RunningServer): Promise<Figures> {
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

export async function send(stage: Stage, { url, headers }: RunningServer): Promise<void> {
  const bodies = [bodyOf(WORKLOAD)];
  await stage.send({ urls: [url], bodies, headers, requests: WORKLOAD.requests, pauseMs: 0 });
}

async function heapBytes({ program }: RunningServer): Promise<number> {
  const { heapBytes: bytes } = await program.ask<Gauge>('gauge', { collectsGarbage: true });
  return bytes;
}
