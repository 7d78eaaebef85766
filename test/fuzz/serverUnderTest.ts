import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readConfig } from '../../src/config/config.ts';
import { startServer } from '../../src/app/server.ts';
import { systemClock } from '../../src/system/clock.ts';
import { OwnDelay } from './ownDelay.ts';
import { withEntry } from '../operatorEntry.ts';

/** What the process that serves tells of itself. */
export interface ServerFigures {
  readonly uncaughtExceptions: number;
  readonly unhandledRejections: number;
  /** Names and places of what was not caught, or not foreseen. */
  readonly defects: readonly string[];
  /** The longest that a due timer waited, in milliseconds of the wall clock. */
  readonly eventLoopDelayMs: number;
  /** The same, counting only what this process itself computed meanwhile. */
  readonly ownDelayMs: number;
  /** Heap, and what lies outside of it, after a collection. */
  readonly heldBytes: number;
}

let uncaughtExceptions = 0;
let unhandledRejections = 0;
const defects: string[] = [];

function describe(defect: unknown): string {
  return defect instanceof Error ? (defect.stack ?? defect.name) : String(defect);
}

process.on('uncaughtException', (error) => {
  uncaughtExceptions += 1;
  defects.push(describe(error));
});
process.on('unhandledRejection', (reason) => {
  unhandledRejections += 1;
  defects.push(describe(reason));
});

const config = readConfig(withEntry(process.env));
const server = await startServer({
  config,
  operators: config.operators,
  clock: systemClock,
  log: {
    info: () => undefined,
    warn: () => undefined,
    error: (message, details) => {
      if (message === 'a request broke') defects.push(`${message}: ${JSON.stringify(details)}`);
    },
  },
});

async function tell(): Promise<void> {
  const delays = { eventLoopDelayMs: delay.max / 1e6, ownDelayMs: ownDelay.longestMs };
  // Collecting is no work of the server's.
  ownDelay.stop();
  for (let turn = 0; turn < 3; turn += 1) {
    gc?.();
    await nextTurn();
  }
  const { heapUsed, external } = process.memoryUsage();
  const figures: ServerFigures = {
    uncaughtExceptions,
    unhandledRejections,
    defects: defects.slice(0, 10),
    ...delays,
    heldBytes: heapUsed + external,
  };
  process.send?.(figures);
  ownDelay.start();
}

const { gc } = globalThis;
const delay = monitorEventLoopDelay({ resolution: 5 });
const ownDelay = new OwnDelay();
process.on('message', (message) => {
  if (message === 'measure') {
    delay.enable();
    ownDelay.start();
    return;
  }
  void tell();
});
process.on('disconnect', () => {
  ownDelay.stop();
  delay.disable();
  void server.stop();
});
process.send?.({ url: server.url });
