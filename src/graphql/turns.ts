import type { Clock } from '../system/clock.ts';

interface Waiter {
  readonly signal: { readonly aborted: boolean };
  readonly begin: () => void;
}

interface Queue {
  readonly waiters: Waiter[];
  /** What its turns took, on top of the least of all callers when it began to wait. */
  spentMs: number;
}

/**
 * One request a turn of the event loop. Of the callers that wait, the next is the one whose turns took the least time:
 * however many requests a caller has, and however long each takes, another caller's waits for one of them.
 */
export class Turns {
  readonly #clock: Clock;
  /** In the order of their last turns. One without waiters stays while it has spent more than another that waits. */
  readonly #queues = new Map<string, Queue>();
  #leastSpentMs = 0;
  #isTaken = false;
  #underWay: { readonly queue: Queue; readonly beganAtMs: number } | undefined;
  #emptyTurns = 0;
  #emptyUntilMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `undefined` where the turn is free: a promise takes the request out of it. */
  take(caller: string, signal: Waiter['signal']): Promise<void> | undefined {
    if (!this.#isTaken) {
      this.#isTaken = true;
      this.#schedule();
      return undefined;
    }
    const { promise, resolve: begin } = Promise.withResolvers<void>();
    const queue = this.#queues.get(caller) ?? { waiters: [], spentMs: this.#leastSpentMs };
    queue.waiters.push({ signal, begin });
    this.#queues.set(caller, queue);
    return promise;
  }

  /** What the first of two immediates begins is over when the second runs, and nothing else has run in between. */
  #schedule(): void {
    setImmediate(this.#begin);
    setImmediate(this.#end);
  }

  readonly #begin = (): void => {
    if (this.#emptyTurns > 0 && this.#clock.monotonicMs() < this.#emptyUntilMs) {
      this.#emptyTurns -= 1;
      return;
    }
    for (let queue; (queue = this.#next()) !== undefined;) {
      const waiter = queue.waiters.shift();
      waiter?.begin();
      if (waiter?.signal.aborted !== false) continue;
      this.#underWay = { queue, beganAtMs: this.#clock.monotonicMs() };
      return;
    }
    this.#queues.clear();
    this.#isTaken = false;
  };

  readonly #end = (): void => {
    if (this.#underWay !== undefined) {
      const { queue, beganAtMs } = this.#underWay;
      const nowMs = this.#clock.monotonicMs();
      const tookMs = nowMs - beganAtMs;
      queue.spentMs += tookMs;
      // Node accepts one connection a turn: after a long one it may catch up, or requests would be late before they are read.
      this.#emptyTurns = Math.floor(tookMs);
      // Where other work makes turns long, requests would wait for it up to their deadline.
      this.#emptyUntilMs = nowMs + tookMs;
      this.#underWay = undefined;
    }
    if (this.#isTaken) this.#schedule();
  };

  /** Of those that wait, the one that spent the least; it is the last of its equals from now on. */
  #next(): Queue | undefined {
    let next: string | undefined;
    let leastSpentMs = Infinity;
    for (const [caller, { waiters, spentMs }] of this.#queues) {
      if (waiters.length === 0 || spentMs >= leastSpentMs) continue;
      next = caller;
      leastSpentMs = spentMs;
    }
    if (next === undefined) return undefined;
    this.#leastSpentMs = leastSpentMs;
    for (const [caller, queue] of this.#queues) {
      const isSettled = queue.waiters.length === 0 && queue.spentMs <= leastSpentMs;
      if (isSettled) this.#queues.delete(caller);
    }
    const queue = this.#queues.get(next);
    if (queue === undefined) return undefined;
    this.#queues.delete(next);
    this.#queues.set(next, queue);
    return queue;
  }
}
