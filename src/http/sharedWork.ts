import type { Abortable, AbortListeners } from './abortListeners.ts';
import type { Urgency } from './resilience/bulkhead.ts';

/** Until when shared work is of use. */
export type SharedUrgency = Urgency & { readonly signal: AbortSignal };

/**
 * Work that several wait for. It belongs to all of them: it has as much time as the waiter that has the
 * most, and is ended when the last one has gone.
 */
export class SharedWork<T> {
  readonly outcome: Promise<T>;
  readonly #abortListeners: AbortListeners;
  readonly #waiters = new Set<Urgency>();
  readonly #aborter = new AbortController();

  /** @param first waits from now on; it still has to ask for the outcome */
  constructor(
    first: Urgency,
    work: (urgency: SharedUrgency) => Promise<T>,
    abortListeners: AbortListeners,
  ) {
    this.#abortListeners = abortListeners;
    this.#waiters.add(first);
    this.outcome = work(this.#urgency());
  }

  /** Whether the last waiter has gone, so that it comes to nothing. */
  get isAbandoned(): boolean {
    return this.#aborter.signal.aborted;
  }

  /** What it comes to; `undefined` when the waiter's own signal is aborted first. */
  async outcomeFor(waiter: Urgency): Promise<T | undefined> {
    this.#waiters.add(waiter);
    const { signal } = waiter;
    if (signal === undefined) return this.outcome;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const leaving: Abortable = {
      abort: () => {
        this.#leave(waiter);
        resolve(undefined);
      },
    };
    if (signal.aborted) {
      leaving.abort();
      return undefined;
    }
    const listeners = this.#abortListeners.of(signal).add(leaving);
    try {
      return await Promise.race([this.outcome, promise]);
    } finally {
      listeners.delete(leaving);
    }
  }

  #leave(waiter: Urgency): void {
    this.#waiters.delete(waiter);
    if (this.#waiters.size === 0) this.#aborter.abort(waiter.signal?.reason);
  }

  #urgency(): SharedUrgency {
    const waiters = this.#waiters;
    return {
      signal: this.#aborter.signal,
      isShared: true,
      /** Read when it is needed: more may join, and theirs may move on. */
      get deadlineMs() {
        return Math.max(...Array.from(waiters, ({ deadlineMs }) => deadlineMs));
      },
    };
  }
}
