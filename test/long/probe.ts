import { setImmediate as nextTurn } from 'node:timers/promises';
import { LoopWatch, type LoopFigures } from './loopWatch.ts';

/** What a process of a long run holds, garbage aside. */
export interface ProbeFigures extends LoopFigures {
  readonly heapBytes: number;
  /** Buffers and what else V8 does not count as heap. */
  readonly externalBytes: number;
  readonly residentBytes: number;
  readonly sockets: number;
  readonly timers: number;
}

// Loaded by `node --import` into a process under load or attack. It keeps nothing alive: the process ends as it would
// without it.
const { gc } = globalThis;
const watch = new LoopWatch();
process.on('message', (message) => {
  if (message === 'reset') watch.reset();
  else void report();
});
process.channel?.unref();

async function report(): Promise<void> {
  const turns = watch.figures;
  // What finalizers let go of is garbage a turn later.
  for (let turn = 0; turn < 3; turn += 1) {
    gc?.();
    await nextTurn();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  const resources = process.getActiveResourcesInfo();
  const figures: ProbeFigures = {
    heapBytes: heapUsed,
    externalBytes: external,
    residentBytes: rss,
    sockets: resources.filter((one) => one === 'TCPSocketWrap').length,
    timers: resources.filter((one) => one === 'Timeout').length,
    ...turns,
  };
  // Collecting is the probe's own work.
  watch.goOnFrom(turns.ownTurnMs);
  process.send?.(figures);
}
