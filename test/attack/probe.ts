import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** What an attacked process tells of itself when it is asked, garbage aside. */
export interface ProbeFigures {
  readonly heapBytes: number;
  /** Buffers and what else V8 does not count as heap. */
  readonly externalBytes: number;
  /** The longest that this process kept its own event loop from turning, by the processor's time. */
  readonly ownDelayMs: number;
  /** The same by the clock on the wall, other programs' share included. */
  readonly wallDelayMs: number;
  /** Whether a string could become code. */
  readonly takesCode: boolean;
  /** Members that every object has and none should. */
  readonly polluted: readonly string[];
}

const EVERY_MS = 5;

// Loaded by `node --import` into the process that is attacked. It keeps nothing alive: the process
// ends as it would without it.
const { gc } = globalThis;
const wall = monitorEventLoopDelay({ resolution: EVERY_MS });
wall.enable();
let ownDelayMs = 0;
let usage = process.threadCpuUsage();
setInterval(() => {
  const { user, system } = process.threadCpuUsage(usage);
  usage = process.threadCpuUsage();
  ownDelayMs = Math.max(ownDelayMs, (user + system) / 1000);
}, EVERY_MS).unref();

process.on('message', (message) => {
  if (message === 'reset') {
    ownDelayMs = 0;
    wall.reset();
    return;
  }
  void tell();
});
process.channel?.unref();

async function tell(): Promise<void> {
  const delays = { ownDelayMs, wallDelayMs: wall.count === 0 ? 0 : wall.max / 1e6 };
  for (let turn = 0; turn < 3; turn += 1) {
    gc?.();
    await nextTurn();
  }
  const { heapUsed, external } = process.memoryUsage();
  const figures: ProbeFigures = {
    heapBytes: heapUsed,
    externalBytes: external,
    ...delays,
    takesCode: takesCode(),
    polluted: Object.keys(Object.prototype),
  };
  // Collecting is work of the probe's own.
  ownDelayMs = Math.max(0, delays.ownDelayMs);
  usage = process.threadCpuUsage();
  process.send?.(figures);
}

function takesCode(): boolean {
  try {
    // It asks whether the flag is on.
    // oxlint-disable-next-line typescript/no-implied-eval
    return new Function('return true')() === true;
  } catch {
    return false;
  }
}
