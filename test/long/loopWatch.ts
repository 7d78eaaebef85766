import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How late a thread ran what was due, in milliseconds. */
export interface LoopFigures {
  /** The latest timer, by the wall clock: the time of other programs included. */
  readonly longestTurnMs: number;
  /** The same, by the CPU time of this thread. */
  readonly ownTurnMs: number;
}

const EVERY_MS = 5;

/** Watches this thread's event loop; it keeps nothing alive. */
export class LoopWatch {
  readonly #wall = monitorEventLoopDelay({ resolution: EVERY_MS });
  readonly #timer: NodeJS.Timeout;
  #ownTurnMs = 0;
  #usage = process.threadCpuUsage();

  constructor() {
    this.#wall.enable();
    this.#timer = setInterval(() => {
      const { user, system } = process.threadCpuUsage(this.#usage);
      this.goOnFrom(Math.max(this.#ownTurnMs, (user + system) / 1000));
    }, EVERY_MS).unref();
  }

  get figures(): LoopFigures {
    const longestTurnMs = this.#wall.count === 0 ? 0 : this.#wall.max / 1e6;
    return { longestTurnMs, ownTurnMs: this.#ownTurnMs };
  }

  /** What was computed since `ownTurnMs` was read does not count. */
  goOnFrom(ownTurnMs: number): void {
    this.#usage = process.threadCpuUsage();
    this.#ownTurnMs = ownTurnMs;
  }

  reset(): void {
    this.#ownTurnMs = 0;
    this.#wall.reset();
  }

  stop(): void {
    this.#wall.disable();
    clearInterval(this.#timer);
  }
}
