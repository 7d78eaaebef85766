import type { LookupFailure } from '../domain/errors.ts';
import type { Clock } from '../system/clock.ts';
import type { Abortable, Urgency } from '../system/urgency.ts';

export interface BulkheadSize {
  readonly permits: number;
  readonly queue: number;
}

/** Or a failure that says when it would have fitted, by the present pace. Nothing was sent: no operator is to blame. */
export type Permit = 'acquired' | LookupFailure;

/** A place in the queue, which is a linked list: its last place is given up as cheaply as its first. */
class Ticket implements Abortable {
  readonly urgency: Urgency;
  before: Ticket | undefined;
  after: Ticket | undefined;
  readonly #queue: Queue;
  readonly #resolve: (permit: Permit) => void;

  constructor(urgency: Urgency, queue: Queue, resolve: (permit: Permit) => void) {
    this.urgency = urgency;
    this.#queue = queue;
    this.#resolve = resolve;
    queue.add(this);
    urgency.signal?.add(this);
  }

  call(permit: Permit): void {
    this.#queue.remove(this);
    this.urgency.signal?.delete(this);
    this.#resolve(permit);
  }

  abort(): void {
    this.call(crowded(0));
  }
}

class Queue {
  size = 0;
  first: Ticket | undefined;
  last: Ticket | undefined;

  add(ticket: Ticket): void {
    ticket.before = this.last;
    if (this.last === undefined) this.first = ticket;
    else this.last.after = ticket;
    this.last = ticket;
    this.size += 1;
  }

  remove(ticket: Ticket): void {
    const { before, after } = ticket;
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after === undefined) this.last = before;
    else after.before = before;
    ticket.before = ticket.after = undefined;
    this.size -= 1;
  }
}

/** How long a piece of work takes: the average of the first ones, and then one in which the latest weigh most. */
export class TypicalTime {
  /** 0 until a piece is done. */
  ms = 0;
  readonly #weight: number;
  #pieces = 0;

  /** @param weight of the latest piece, after as many as have that weight each in an average */
  constructor(weight: number) {
    this.#weight = weight;
  }

  add(tookMs: number): void {
    this.#pieces += 1;
    this.ms += Math.max(this.#weight, 1 / this.#pieces) * (tookMs - this.ms);
  }
}

const LATEST_WEIGHT = 0.1;
/**
 * The factors for the work ahead of a request: at the start of a queue, whose first pieces take longer than the others,
 * and after many rounds of the queue, since a process or an operator slows down under load.
 */
const FIRST_FACTOR = 0.25;
const STEADY_FACTOR = 1.25;
const ROUNDS_UNTIL_STEADY = 4;

/**
 * Keeps one kind of work from taking every resource. It rejects what could not be done by its deadline, judged by how
 * long recent work took: at once, or, for a crowd at the start, as soon as the first pieces show how long they take.
 */
export class Bulkhead {
  readonly #size: BulkheadSize;
  readonly #clock: Clock;
  readonly #queue = new Queue();
  #underWay = 0;
  readonly #typical = new TypicalTime(LATEST_WEIGHT);
  /** How often the queue has gone round since something began to wait. */
  #rounds = 0;

  constructor(size: BulkheadSize, clock: Clock) {
    this.#size = size;
    this.#clock = clock;
  }

  get load() {
    return { underWay: this.#underWay, waiting: this.#queue.size };
  }

  /** Takes a permit, immediately where one is free. {@link release} returns it. Never rejects. */
  acquire(urgency: Urgency): Permit | Promise<Permit> {
    if (this.#underWay < this.#size.permits) {
      this.#underWay += 1;
      return 'acquired';
    }
    if (this.#queue.size === 0) this.#rounds = 0;
    const refusal = this.refusal(urgency);
    return refusal ?? new Promise((resolve) => void new Ticket(urgency, this.#queue, resolve));
  }

  /** What {@link acquire} would refuse at once with; `undefined` where there is a permit or a place. */
  refusal(urgency: Urgency): LookupFailure | undefined {
    if (this.#underWay < this.#size.permits) return undefined;
    const place = this.#queue.size + 1;
    const lateMs = this.#lateMs(place, urgency);
    return lateMs > 0 || place > this.#size.queue ? crowded(lateMs) : undefined;
  }

  /**
   * Passes the permit to the oldest waiter that still has time.
   *
   * @param acquiredAtMs on the monotonic clock
   */
  release(acquiredAtMs: number): void {
    this.#typical.add(this.#clock.monotonicMs() - acquiredAtMs);
    this.#rounds += 1 / this.#size.permits;
    let isPassedOn = false;
    for (let ticket; !isPassedOn && (ticket = this.#queue.first) !== undefined;) {
      const lateMs = this.#lateMs(1, ticket.urgency);
      isPassedOn = lateMs <= 0;
      ticket.call(lateMs <= 0 ? 'acquired' : crowded(lateMs));
    }
    if (!isPassedOn) this.#underWay -= 1;
    // From the end of the queue, until the last one can be done by its deadline.
    for (let ticket; (ticket = this.#queue.last) !== undefined;) {
      const lateMs = this.#lateMs(this.#queue.size, ticket.urgency);
      if (lateMs <= 0) return;
      ticket.call(crowded(lateMs));
    }
  }

  /** By how much the work at a place in the queue would miss its deadline; negative where it would meet it. */
  #lateMs(place: number, { deadlineMs }: Urgency): number {
    const before = (place - 1) / this.#size.permits;
    const steadiness = Math.min(1, this.#rounds / ROUNDS_UNTIL_STEADY);
    const factor = FIRST_FACTOR + steadiness * (STEADY_FACTOR - FIRST_FACTOR);
    const doneInMs = this.#typical.ms * (factor * before + 1);
    return this.#clock.monotonicMs() + doneInMs - deadlineMs;
  }
}

/** @param afterMs when there is room, by the pace of the latest work */
export function crowded(afterMs: number): LookupFailure {
  const retryAfterSeconds = Math.max(1, Math.ceil(afterMs / 1000));
  return { code: 'UNAVAILABLE', reach: 'number', retryAfterSeconds };
}
