import type { Clock } from '../system/clock.ts';
import type { Urgency } from '../system/urgency.ts';

/** Seconds after which a request that cannot begin in time may be sent again; `undefined` where it may begin now. */
type Turn = number | undefined;

interface Waiter {
  readonly signal: Urgency['signal'];
  /** When it must begin at the latest, on the monotonic clock. */
  readonly untilMs: number;
  readonly call: (turn: Turn) => void;
}

interface Queue {
  readonly waiters: Waiter[];
  /** How long its turns took, added to the fair share when it began to wait. */
  spentMs: number;
}

/** The weight of the latest interval between two requests in the average. */
const SMOOTHING = 0.1;
/** The first requests of a crowd take longer than those after them. */
const BEGUN_UNTIL_KNOWN = 8;

/**
 * Begins one request per turn of the event loop. Of the callers that wait, the next is the one whose turns took the
 * least time: however many requests a caller has, and however long each takes, another caller's request waits for only
 * one of them.
 * A request waits for at most half of the time that it has left: what would wait longer, as turns pass now, is refused
 * at once, or as soon as that is known.
 */
export class Turns {
  readonly #clock: Clock;
  /** In the order of their last turns. A queue without waiters stays while it has spent more than its fair share. */
  readonly #queues = new Map<string, Queue>();
  /**
   * What each caller would have spent, had all turns been shared evenly by those that waited. A new caller begins
   * there. It rises with each turn, so that new callers do not overtake a returning one for ever.
   */
  #fairShareMs = 0;
  #isTaken = false;
  #waiting = 0;
  /** How many requests began since some had to wait. */
  #begun = 0;
  /** The typical time from one request to the next; at first an underestimate. */
  #typicalMs = 0;
  #lastBeganAtMs = 0;
  #underWay: { readonly queue: Queue; readonly beganAtMs: number } | undefined;
  /** How many turns to leave empty while there are connections to accept. */
  #emptyTurns = 0;
  #hasAccepted = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes a turn. `undefined` where it is free: a promise would move the request out of it. Never rejects. */
  take(caller: string, { deadlineMs, signal }: Urgency): Promise<Turn> | undefined {
    if (!this.#isTaken) {
      this.#isTaken = true;
      this.#lastBeganAtMs = this.#clock.monotonicMs();
      this.#begun = this.#typicalMs = 0;
      this.#schedule();
      return undefined;
    }
    const queue = this.#queues.get(caller) ?? { waiters: [], spentMs: this.#fairShareMs };
    const untilMs = (this.#clock.monotonicMs() + deadlineMs) / 2;
    const lateMs = this.#lateMs(queue.waiters.length, untilMs);
    if (lateMs > 0) return Promise.resolve(seconds(lateMs));
    const { promise, resolve: call } = Promise.withResolvers<Turn>();
    queue.waiters.push({ signal, untilMs, call });
    this.#waiting += 1;
    this.#queues.set(caller, queue);
    return promise;
  }

  /** To be called for each connection, of which Node accepts one a turn: further ones may wait. */
  accepted(): void {
    this.#hasAccepted = true;
  }

  /**
   * Two immediates bound a turn: what the first begins is over when the second runs, and nothing else runs in between.
   */
  #schedule(): void {
    setImmediate(this.#begin);
    setImmediate(this.#end);
  }

  readonly #begin = (): void => {
    const hasAccepted = this.#hasAccepted;
    this.#hasAccepted = false;
    if (hasAccepted && this.#emptyTurns > 0) {
      this.#emptyTurns -= 1;
      return;
    }
    for (let queue; (queue = this.#next()) !== undefined;) {
      const waiter = queue.waiters.shift();
      if (waiter === undefined) continue;
      this.#waiting -= 1;
      const { signal, untilMs, call } = waiter;
      const beganAtMs = this.#clock.monotonicMs();
      const lateMs = beganAtMs - untilMs;
      const isOver = signal?.aborted === true;
      call(isOver || lateMs <= 0 ? undefined : seconds(lateMs));
      if (isOver || lateMs > 0) continue;
      this.#typicalMs += SMOOTHING * (beganAtMs - this.#lastBeganAtMs - this.#typicalMs);
      this.#lastBeganAtMs = beganAtMs;
      this.#begun += 1;
      this.#underWay = { queue, beganAtMs };
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
      this.#fairShareMs += tookMs / (1 + this.#countWaiting());
      // Node accepts one connection per turn: after a long turn it may catch up before requests are late.
      this.#emptyTurns = Math.floor(tookMs);
      this.#underWay = undefined;
      this.#refuseLate();
    }
    if (this.#isTaken) this.#schedule();
  };

  /** Refuses the late requests of each caller, from its last one on. */
  #refuseLate(): void {
    for (const { waiters } of this.#queues.values()) {
      for (let last; (last = waiters.at(-1)) !== undefined;) {
        const lateMs = this.#lateMs(waiters.length - 1, last.untilMs);
        if (lateMs <= 0) break;
        waiters.pop();
        this.#waiting -= 1;
        last.call(seconds(lateMs));
      }
    }
  }

  /**
   * By how much too long a request would wait; negative where it would not.
   *
   * @param before requests of the same caller ahead of it
   */
  #lateMs(before: number, untilMs: number): number {
    // Each request of this caller waits for at most one request of every other caller.
    const beforeOfAll = Math.min(this.#waiting, (before + 1) * this.#queues.size);
    const typicalMs = this.#begun < BEGUN_UNTIL_KNOWN ? 0 : this.#typicalMs;
    return this.#clock.monotonicMs() + typicalMs * beforeOfAll - untilMs;
  }

  #countWaiting(): number {
    let count = 0;
    for (const { waiters } of this.#queues.values()) if (waiters.length > 0) count += 1;
    return count;
  }

  /** The waiting caller that spent the least; from now on it is the last of its equals. */
  #next(): Queue | undefined {
    let next: string | undefined;
    let leastSpentMs = Infinity;
    for (const [caller, { waiters, spentMs }] of this.#queues) {
      if (waiters.length === 0 || spentMs >= leastSpentMs) continue;
      next = caller;
      leastSpentMs = spentMs;
    }
    if (next === undefined) return undefined;
    this.#fairShareMs = Math.max(this.#fairShareMs, leastSpentMs);
    for (const [caller, queue] of this.#queues) {
      const isSettled = queue.waiters.length === 0 && queue.spentMs <= this.#fairShareMs;
      if (isSettled) this.#queues.delete(caller);
    }
    const queue = this.#queues.get(next);
    if (queue === undefined) return undefined;
    this.#queues.delete(next);
    this.#queues.set(next, queue);
    return queue;
  }
}

function seconds(lateMs: number): number {
  return Math.max(1, Math.ceil(lateMs / 1000));
}
