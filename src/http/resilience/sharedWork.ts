import { LightAbortSignal, type Abortable } from '../lightAbortSignal.ts';
import type { Urgency } from './bulkhead.ts';

/** Until when shared work is of use. */
export class SharedUrgency implements Urgency {
  readonly signal = new LightAbortSignal();
  readonly isShared = true;
  /** The latest of all that have joined. */
  deadlineMs: number;

  constructor({ deadlineMs }: Urgency) {
    this.deadlineMs = deadlineMs;
  }
}

/**
 * Work that several wait for. It belongs to all of them: it has as much time as the waiter that has the
 * most, and is ended when the last one has gone.
 */
export class SharedWork<T> {
  readonly outcome: Promise<T>;
  readonly #urgency: SharedUrgency;
  #waiting = 0;

  /** @param outcome of the work, which was begun with this urgency */
  constructor(urgency: SharedUrgency, outcome: Promise<T>) {
    this.#urgency = urgency;
    this.outcome = outcome;
  }

  /** Whether the last waiter has gone, so that it comes to nothing. */
  get isAbandoned(): boolean {
    return this.#urgency.signal.aborted;
  }

  /** What it comes to; `late` when the waiter's own signal is aborted first. */
  outcomeFor(urgency: Urgency): Promise<T | undefined>;
  outcomeFor(urgency: Urgency, late: T): Promise<T>;
  outcomeFor({ deadlineMs, signal }: Urgency, late?: T): Promise<T | undefined> {
    this.#waiting += 1;
    this.#urgency.deadlineMs = Math.max(this.#urgency.deadlineMs, deadlineMs);
    if (signal === undefined) return this.outcome;
    if (signal.aborted) {
      this.#leave(signal.reason);
      return Promise.resolve(late);
    }
    // By hand: a race would hold twice as much for each of a thousand numbers.
    return new Promise((resolve, reject) => {
      const waiter: Abortable = {
        abort: () => {
          this.#leave(signal.reason);
          resolve(late);
        },
      };
      signal.add(waiter);
      // Not `resolve(this.outcome)`: to take over a promise costs two more turns of the queue.
      const tell = (outcome: T): void => {
        signal.delete(waiter);
        resolve(outcome);
      };
      const fail = (defect: unknown): void => {
        signal.delete(waiter);
        reject(defect);
      };
      this.outcome.then(tell, fail);
    });
  }

  #leave(reason: unknown): void {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#urgency.signal.abort(reason);
  }
}

/** Shared work by key: what is under way is joined, and begun again once its last waiter has gone. */
export class WorkByKey<K, T> {
  readonly #underWay = new Map<K, SharedWork<T>>();

  /** @param urgency with which the work is begun where there is none to join */
  join(key: K, urgency: SharedUrgency, begin: () => Promise<T>): SharedWork<T> {
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined && !underWay.isAbandoned) return underWay;
    const outcome = begin().finally(() => {
      if (this.#underWay.get(key) === begun) this.#underWay.delete(key);
    });
    const begun = new SharedWork(urgency, outcome);
    this.#underWay.set(key, begun);
    return begun;
  }
}
