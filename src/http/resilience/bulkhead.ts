import type { Clock } from '../../system/clock.ts';
import type { Abortable, Urgency } from '../urgency.ts';

export interface BulkheadSize {
  readonly permits: number;
  readonly queue: number;
}

/** The queue was full, or the deadline passed before a permit was free. */
export type BulkheadRejection = 'full' | 'late';
export type Permit = 'acquired' | BulkheadRejection;

/** A place in the queue. A class: closures would take more memory than the rest of a waiter. */
class Ticket implements Abortable {
  readonly urgency: Urgency;
  readonly #queue: Set<Ticket>;
  readonly #resolve: (permit: Permit) => void;

  constructor(urgency: Urgency, queue: Set<Ticket>, resolve: (permit: Permit) => void) {
    this.urgency = urgency;
    this.#queue = queue;
    this.#resolve = resolve;
    queue.add(this);
    urgency.signal?.add(this);
  }

  call(permit: Permit): void {
    this.#queue.delete(this);
    this.urgency.signal?.delete(this);
    this.#resolve(permit);
  }

  abort(): void {
    this.call('late');
  }
}

/** Weighs the last piece of work against all before it. */
const SMOOTHING = 0.1;

/**
 * Keeps one kind of work from taking every resource. When the queue is full, the oldest waiter that can no
 * longer meet its deadline is rejected; if all can, the new work is.
 */
export class Bulkhead {
  readonly #size: BulkheadSize;
  readonly #clock: Clock;
  readonly #waiting = new Set<Ticket>();
  #underWay = 0;
  #typicalMs = 0;

  constructor(size: BulkheadSize, clock: Clock) {
    this.#size = size;
    this.#clock = clock;
  }

  get load() {
    return { underWay: this.#underWay, waiting: this.#waiting.size };
  }

  /** Takes a permit, at once where one is free. It is returned by {@link release}. Never rejects. */
  acquire(urgency: Urgency): Permit | Promise<Permit> {
    if (this.#underWay >= this.#size.permits) return this.#wait(urgency);
    this.#underWay += 1;
    return 'acquired';
  }

  /**
   * Passes the permit to the oldest waiter that still has time.
   *
   * @param acquiredAtMs on the monotonic clock
   */
  release(acquiredAtMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    this.#typicalMs += SMOOTHING * (nowMs - acquiredAtMs - this.#typicalMs);
    for (const ticket of this.#waiting) {
      if (nowMs < ticket.urgency.deadlineMs) {
        ticket.call('acquired');
        return;
      }
      ticket.call('late');
    }
    this.#underWay -= 1;
  }

  #wait(urgency: Urgency): Promise<Permit> {
    if (this.#waiting.size >= this.#size.queue && !this.#dropOldestLate()) {
      return Promise.resolve('full');
    }
    return new Promise((resolve) => void new Ticket(urgency, this.#waiting, resolve));
  }

  #dropOldestLate(): boolean {
    const nowMs = this.#clock.monotonicMs();
    for (const ticket of this.#waiting) {
      if (nowMs + this.#typicalMs > ticket.urgency.deadlineMs) {
        ticket.call('late');
        return true;
      }
    }
    return false;
  }
}
