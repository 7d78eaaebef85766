import { readdirSync, readFileSync } from 'node:fs';
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

const GC_KINDS = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

/** What the process takes of its machine. */
export class ProcessUsage {
  readonly #delay = monitorEventLoopDelay({ resolution: 10 });
  readonly #collections: PerformanceObserver;
  readonly #maxDescriptors = maxDescriptors();

  /** @param collected called after each collection of garbage */
  constructor(collected: (kind: string, seconds: number) => void) {
    this.#delay.enable();
    this.#collections = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const detail: unknown = Reflect.get(entry, 'detail');
        const kind = GC_KINDS.get(Number(Reflect.get(Object(detail), 'kind')));
        if (kind !== undefined) collected(kind, entry.duration / 1000);
      }
    });
    this.#collections.observe({ entryTypes: ['gc'] });
  }

  /** Delays of the event loop since the last reading, and everything else as of now. */
  read() {
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed } = process.memoryUsage();
    const usage = {
      cpuSeconds: (user + system) / 1e6,
      residentBytes: rss,
      heapUsedBytes: heapUsed,
      startSeconds: performance.timeOrigin / 1000,
      maxDelaySeconds: this.#delay.max / 1e9,
      p99DelaySeconds: this.#delay.percentile(99) / 1e9,
      openDescriptors: openDescriptors(),
      maxDescriptors: this.#maxDescriptors,
    };
    this.#delay.reset();
    return usage;
  }

  close(): void {
    this.#delay.disable();
    this.#collections.disconnect();
  }
}

/** `NaN` where there is no /proc. */
function openDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return Number.NaN;
  }
}

function maxDescriptors(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
  } catch {
    return Number.NaN;
  }
}
