import { monitorEventLoopDelay } from 'node:perf_hooks';

/** What a process has used. */
export interface Gauge {
  /** User and system time since it started. */
  readonly cpuMs: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
}

/** Reads this process; with the garbage gone where that is wanted. */
export function readGauge({ collectsGarbage = false } = {}): Gauge {
  if (collectsGarbage) globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { heapUsed, rss } = process.memoryUsage();
  return { cpuMs: (user + system) / 1000, heapBytes: heapUsed, residentBytes: rss };
}

/** Watches how long the event loop is held up; watching costs a timer, so only while it is wanted. */
export class LoopWatch {
  #histogram: ReturnType<typeof monitorEventLoopDelay> | undefined;

  start(): void {
    this.#histogram = monitorEventLoopDelay({ resolution: 1 });
    this.#histogram.enable();
  }

  /** The longest since the start. */
  stop(): { readonly longestMs: number } {
    const histogram = this.#histogram;
    if (histogram === undefined) return { longestMs: 0 };
    histogram.disable();
    this.#histogram = undefined;
    return { longestMs: histogram.max / 1e6 };
  }
}
