import type { Clock } from '../../src/system/clock.ts';

/** Where every test clock starts: noon of a day in January. */
export const START_MS = Date.UTC(2026, 0, 15, 12);

interface Sleeper {
  readonly wakesAtMs: number;
  wake(): void;
}

/** Time that moves only when a test advances it. */
export class TestClock implements Clock {
  #monotonicMs = 1_000;
  #wallMs = START_MS;
  readonly #sleepers = new Set<Sleeper>();

  nowMs(): number {
    return this.#wallMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      if (ms <= 0) {
        resolve();
        return;
      }
      const onAbort = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        wakesAtMs: this.#monotonicMs + ms,
        wake: () => {
          this.#sleepers.delete(sleeper);
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#sleepers.add(sleeper);
    });
  }

  after(ms: number, act: () => void): () => void {
    const cancelled = new AbortController();
    this.sleep(ms, cancelled.signal).then(act, () => undefined);
    return () => cancelled.abort();
  }

  get sleepers(): number {
    return this.#sleepers.size;
  }

  /** Advances both clocks; each sleeper wakes at its time, and acts before the next one. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#monotonicMs + ms;
    await settled();
    for (let next = this.#nextBy(untilMs); next !== undefined; next = this.#nextBy(untilMs)) {
      this.#moveTo(next.wakesAtMs);
      next.wake();
      await settled();
    }
    this.#moveTo(untilMs);
  }

  /** The process is suspended for so long: a sleeper that is due by then wakes late, and only once. */
  async standStill(ms: number): Promise<void> {
    this.#moveTo(this.#monotonicMs + ms);
    const due = [...this.#sleepers].filter(({ wakesAtMs }) => wakesAtMs <= this.#monotonicMs);
    for (const sleeper of due) sleeper.wake();
    await settled();
  }

  /** Sets only the wall clock, as an administrator or a time server does. */
  setWall(epochMs: number): void {
    this.#wallMs = epochMs;
  }

  #moveTo(monotonicMs: number): void {
    this.#wallMs += monotonicMs - this.#monotonicMs;
    this.#monotonicMs = monotonicMs;
  }

  #nextBy(untilMs: number): Sleeper | undefined {
    return [...this.#sleepers]
      .filter(({ wakesAtMs }) => wakesAtMs <= untilMs)
      .toSorted((a, b) => a.wakesAtMs - b.wakesAtMs)[0];
  }
}

/** For an audit log whose writes follow each other at once: where a test moves the time, nobody would end a pause. */
export function withoutPauses(clock: Clock): Clock {
  return {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    after: (ms, act) => clock.after(ms, act),
    sleep: () => Promise.resolve(),
  };
}

/** Resolves once all has run that does not wait for something outside this process. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
