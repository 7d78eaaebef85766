import type { Clock } from '../system/clock.ts';
import type { Log } from '../log/log.ts';

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;

/** Something without which no question can be answered. */
export interface Need {
  /** For the log and for `/readyz`, which any client may read. */
  readonly name: string;
  /** Resolves when it works; rejects, in bounded time, when it does not. */
  probe(): Promise<unknown>;
}

export interface ReadinessParts {
  readonly needs: readonly Need[];
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/**
 * Whether everything that answering needs has been seen to work since the start. Each need is probed until it works once.
 * What is lost later does not count: every replica would leave its service at once, and nothing be left to say why.
 */
export class Readiness {
  readonly #parts: ReadinessParts;
  readonly #waitingFor: Set<Need>;
  readonly #stopping = new AbortController();

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
    this.#waitingFor = new Set(parts.needs);
  }

  get waitingFor(): readonly string[] {
    return Array.from(this.#waitingFor, ({ name }) => name);
  }

  /** Probes everything. Resolves to `true` when all of it has worked, to `false` when it is stopped before. */
  async begin(): Promise<boolean> {
    await Promise.all(this.#parts.needs.map((need) => this.#untilItWorks(need)));
    return this.#waitingFor.size === 0;
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #untilItWorks(need: Need): Promise<void> {
    const { clock, log, random } = this.#parts;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, 2 * pauseMs)) {
      try {
        await need.probe();
        this.#waitingFor.delete(need);
        return;
      } catch {
        if (this.#stopping.signal.aborted) return;
        log.warn('not ready: what answering needs does not work yet', { need: need.name });
      }
      try {
        // Replicas that start together do not probe together.
        await clock.sleep(pauseMs * (0.5 + random() / 2), this.#stopping.signal);
      } catch {
        return;
      }
    }
  }
}
