import type { Acceptance } from '../system/acceptance.ts';
import type { Clock } from '../system/clock.ts';
import type { Urgency } from '../system/urgency.ts';

interface Waiter {
  readonly signal: Urgency['signal'];
  readonly call: () => void;
}

interface Queue {
  readonly waiters: Waiter[];
  /** How long its requests took to begin, added to the fair share when it began to wait. */
  spentMs: number;
}

/** The most requests that one turn of the event loop begins, and the time after which it begins no further one. */
const MAX_A_TURN = 8;
const TURN_MS = 1;

/**
 * One request a turn of the event loop, and further ones while those of that turn took less than {@link TURN_MS}: one by
 * one, short requests would cost the system a call for each of their packets. Of the callers that wait, the next is the
 * one whose requests took the least time: however many requests a caller has, and however long each takes, another
 * caller's waits for one of them.
 *
 * None is refused early by how turns pass now: on a busy machine most of what a forecast refused would have been answered.
 */
export class Turns {
  readonly #clock: Clock;
  /**
   * In the order in which their last requests began. A queue without waiters stays while it has spent more than its fair
   * share.
   */
  readonly #queues = new Map<string, Queue>();
  /** How many of them have waiters, and how many these are. */
  #waiting = 0;
  #requests = 0;
  /**
   * What each caller would have spent, had all turns been shared evenly by those that waited. A new caller begins there. It
   * rises with each request, so that new callers do not go before one that returns for ever.
   */
  #fairShareMs = 0;
  #isTaken = false;
  /** What the requests took that began in this turn; `Infinity` where connections go first. */
  #tookMs = 0;
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
    this.#requests += 1;
    return promise;
  }

  /** What one immediate begins is over when the next runs, and nothing else has run in between. */
  #schedule(): void {
    setImmediate(this.#turn);
    for (let further = 1; further < Math.min(this.#requests, MAX_A_TURN); further += 1) {
      setImmediate(this.#goOn);
    }
    setImmediate(this.#end);
  }

  readonly #turn = (): void => {
    this.#tookMs = 0;
    if (this.#acceptance.goesFirst()) this.#tookMs = Infinity;
    else if (!this.#begin()) {
      this.#queues.clear();
      this.#isTaken = false;
    }
  };

  readonly #goOn = (): void => {
    this.#count();
    if (this.#tookMs < TURN_MS) this.#begin();
  };

  readonly #end = (): void => {
    this.#count();
    if (this.#isTaken) this.#schedule();
  };

  /** Whether one waited. */
  #begin(): boolean {
    for (let queue; (queue = this.#next()) !== undefined;) {
      const waiter = queue.waiters.shift();
      if (queue.waiters.length === 0) this.#waiting -= 1;
      if (waiter === undefined) continue;
      this.#requests -= 1;
      waiter.call();
      // One that has ended takes no turn.
      if (waiter.signal?.aborted === true) continue;
      this.#underWay = { queue, beganAtMs: this.#clock.monotonicMs() };
      return true;
    }
    return false;
  }

  /** Adds the request that began last to what its caller and this turn have taken. */
  #count(): void {
    if (this.#underWay === undefined) return;
    const { queue, beganAtMs } = this.#underWay;
    const tookMs = this.#clock.monotonicMs() - beganAtMs;
    queue.spentMs += tookMs;
    this.#tookMs += tookMs;
    this.#fairShareMs += tookMs / (1 + this.#waiting);
    this.#underWay = undefined;
  }

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
