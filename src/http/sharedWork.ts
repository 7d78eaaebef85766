import { LightAbortSignal, type Abortable, type AbortListeners } from './abortListeners.ts';
import type { Urgency } from './resilience/bulkhead.ts';

/** Until when shared work is of use. */
export type SharedUrgency = Urgency & { readonly signal: LightAbortSignal };

/**
 * Work that several wait for. It belongs to all of them: it has as much time as the waiter that has the
 * most, and is ended when the last one has gone.
 */
export class SharedWork<T> {
  readonly outcome: Promise<T>;
  readonly #abortListeners: AbortListeners;
  readonly #signal = new LightAbortSignal();
  #deadlineMs: number;
  #waiting = 0;

  /** @param deadlineMs of the first waiter, which is still to ask for the outcome */
  constructor(
    deadlineMs: number,
    work: (urgency: SharedUrgency) => Promise<T>,
    abortListeners: AbortListeners,
  ) {
    this.#deadlineMs = deadlineMs;
    this.#abortListeners = abortListeners;
    this.outcome = work(this.#urgency());
  }

  /** Whether the last waiter has gone, so that it comes to nothing. */
  get isAbandoned(): boolean {
    return this.#signal.aborted;
  }

  /** What it comes to; `undefined` when the waiter's own signal is aborted first. */
  outcomeFor({ deadlineMs, signal }: Urgency): Promise<T | undefined> {
    this.#waiting += 1;
    this.#deadlineMs = Math.max(this.#deadlineMs, deadlineMs);
    if (signal === undefined) return this.outcome;
    if (signal.aborted) {
      this.#leave(signal.reason);
      return Promise.resolve(undefined);
    }
    const listeners = this.#abortListeners.of(signal);
    // By hand: a race would hold twice as much for each of a thousand numbers.
    return new Promise((resolve) => {
      const waiter: Abortable = {
        abort: () => {
          this.#leave(signal.reason);
          resolve(undefined);
        },
      };
      listeners.add(waiter);
      const settle = (): void => {
        listeners.delete(waiter);
        resolve(this.outcome);
      };
      this.outcome.then(settle, settle);
    });
  }

  #leave(reason: unknown): void {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#signal.abort(reason);
  }

  #urgency(): SharedUrgency {
    const latestDeadlineMs = (): number => this.#deadlineMs;
    return {
      signal: this.#signal,
      isShared: true,
      /** Read when it is needed: more may join. */
      get deadlineMs() {
        return latestDeadlineMs();
      },
    };
  }
}
