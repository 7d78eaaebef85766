import { setImmediate as nextTurn } from 'node:timers/promises';
import { LoopWatch, type LoopFigures } from './loopWatch.ts';

/** What a process of a long run tells of itself when it is asked, garbage aside. */
export interface ProbeFigures extends LoopFigures {
  readonly heapBytes: number;
  /** Buffers and what else V8 does not count as heap. */
  readonly externalBytes: number;
  readonly residentBytes: number;
  readonly sockets: number;
  readonly timers: number;
  /** What was not caught, or not foreseen. */
  readonly defects: readonly string[];
}

export const defects: string[] = [];

// Part of a process that is loaded or attacked, be it by `node --import`. It keeps nothing alive: the process
// ends as it would without it.
const { gc } = globalThis;
const watch = new LoopWatch();
process.on('message', (message) => {
  if (message === 'reset') watch.reset();
  else void tell();
});
process.channel?.unref();

async function tell(): Promise<void> {
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
    defects,
  };
  // Collecting is work of the probe's own.
  watch.goOnFrom(turns.ownTurnMs);
  process.send?.(figures);
}
