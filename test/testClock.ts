import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../src/clock.ts';

interface Sleeper {
  readonly wakesAtMs: number;
  wake(): void;
}

/** A clock that stands still until a test moves it; whoever sleeps wakes in the order of time. */
export class TestClock implements Clock {
  readonly #startedAtMs: number;
  #elapsedMs = 0;
  readonly #sleepers = new Set<Sleeper>();

  constructor(startedAtMs = Date.UTC(2026, 0, 1)) {
    this.#startedAtMs = startedAtMs;
  }

  get sleepers(): number {
    return this.#sleepers.size;
  }

  nowMs(): number {
    return this.#startedAtMs + this.#elapsedMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', abort);
      };
      const abort = (): void => {
        leave();
        reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
      };
      const sleeper: Sleeper = {
        wakesAtMs: this.#elapsedMs + ms,
        wake: () => {
          leave();
          resolve();
        },
      };
      if (signal?.aborted === true) {
        abort();
        return;
      }
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', abort);
    });
  }

  /** Moves time on, and lets everything that becomes due happen at its own moment. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#elapsedMs + ms;
    await settled();
    for (let next = this.#next(endMs); next !== undefined; next = this.#next(endMs)) {
      this.#elapsedMs = Math.max(this.#elapsedMs, next.wakesAtMs);
      next.wake();
      await settled();
    }
    this.#elapsedMs = endMs;
    await settled();
  }

  #next(endMs: number): Sleeper | undefined {
    return [...this.#sleepers]
      .filter(({ wakesAtMs }) => wakesAtMs <= endMs)
      .toSorted((a, b) => a.wakesAtMs - b.wakesAtMs)[0];
  }
}

/** Lets everything run that waits for nothing but its turn. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
}
