import type { Acceptance } from '../system/acceptance.ts';
import type { Clock } from '../system/clock.ts';
import type { Urgency } from '../system/urgency.ts';

interface Waiter {
  readonly signal: Urgency['signal'];
  readonly call: () => void;
}

interface Queue {
  readonly waiters: Waiter[];
  /** How long its turns took, added to the fair share when it began to wait. */
  spentMs: number;
}

/**
 * One request a turn of the event loop. Of the callers that wait, the next is the one whose turns took the least time:
 * however many requests a caller has, and however long each takes, another caller's waits for one of them.
 *
 * None is refused early by how turns pass now: on a busy machine most of what a forecast refused would have been answered.
 */
export class Turns {
  readonly #clock: Clock;
  /** In the order of their last turns. A queue without waiters stays while it has spent more than its fair share. */
  readonly #queues = new Map<string, Queue>();
  /** How many of them have waiters. */
  #waiting = 0;
  /**
   * What each caller would have spent, had all turns been shared evenly by those that waited. A new caller begins there. It
   * rises with each turn, so that new callers do not go before one that returns for ever.
   */
  #fairShareMs = 0;
  #isTaken = false;
  #underWay: { readonly queue: Queue; readonly beganAtMs: number } | undefined;
  readonly #acceptance: Acceptance;

  /** @param acceptance of connections, before which no request begins */
  constructor(clock: Clock, acceptance: Acceptance) {
    this.#clock = clock;
    this.#acceptance = acceptance;
  }

  /** `undefined` where the turn is free: a promise would move the request out of it. Never rejects. */
  take(caller: string, { signal }: Pick<Urgency, 'signal'>): Promise<void> | undefined {
    if (!this.#isTaken) {
      this.#isTaken = true;
      this.#schedule();
      return undefined;
    }
    let queue = this.#queues.get(caller);
    if (queue === undefined) this.#queues.set(caller, (queue = { waiters: [], spentMs: 0 }));
    if (queue.waiters.length === 0) {
      queue.spentMs = Math.max(queue.spentMs, this.#fairShareMs);
      this.#waiting += 1;
    }
    const { promise, resolve: call } = Promise.withResolvers<void>();
    queue.waiters.push({ signal, call });
    return promise;
  }

  /** What the first of two immediates begins is over when the second runs, and nothing else has run in between. */
  #schedule(): void {
    setImmediate(this.#begin);
    setImmediate(this.#end);
  }

  readonly #begin = (): void => {
    if (this.#acceptance.goesFirst()) return;
    for (let queue; (queue = this.#next()) !== undefined;) {
      const waiter = queue.waiters.shift();
      if (queue.waiters.length === 0) this.#waiting -= 1;
      if (waiter === undefined) continue;
      waiter.call();
      // One that has ended takes no turn.
      if (waiter.signal?.aborted === true) continue;
      this.#underWay = { queue, beganAtMs: this.#clock.monotonicMs() };
      return;
    }
    this.#queues.clear();
    this.#isTaken = false;
  };

  readonly #end = (): void => {
    if (this.#underWay !== undefined) {
      const { queue, beganAtMs } = this.#underWay;
      const tookMs = this.#clock.monotonicMs() - beganAtMs;
      queue.spentMs += tookMs;
      this.#fairShareMs += tookMs / (1 + this.#waiting);
      this.#underWay = undefined;
    }
    if (this.#isTaken) this.#schedule();
  };

  /** The waiting caller that spent the least; from now on it is the last of its equals. */
  #next(): Queue | undefined {
    let next: readonly [caller: string, Queue] | undefined;
    for (const entry of this.#queues) {
      const [caller, { waiters, spentMs }] = entry;
      if (waiters.length > 0) {
        if (next === undefined || spentMs < next[1].spentMs) next = entry;
      } else if (spentMs <= this.#fairShareMs) this.#queues.delete(caller);
    }
    if (next === undefined) return undefined;
    const [caller, queue] = next;
    this.#fairShareMs = Math.max(this.#fairShareMs, queue.spentMs);
    this.#queues.delete(caller);
    this.#queues.set(caller, queue);
    return queue;
  }
}
