import type { Clock } from '../system/clock.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import { Bulkhead, type BulkheadRejection, type Urgency } from '../http/resilience/bulkhead.ts';

/** So many wait for the call about one number; more would wait longer than they may. */
const QUEUE = 100;

interface Turns {
  readonly bulkhead: Bulkhead;
  /** Under way or waiting. */
  count: number;
}

/**
 * One piece of work about a number at a time, for an operator that answers 409 to a second call. Waiting for
 * it takes no permit, so that one number keeps no other from being asked about.
 */
export class KeyedMutex {
  readonly #clock: Clock;
  readonly #turns = new Map<PhoneNumber, Turns>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Does the work when the number's turn comes; if it does not in time, `onRejected` is told why. */
  async run<T>(
    number: PhoneNumber,
    urgency: Urgency,
    work: () => Promise<T>,
    onRejected: (rejection: BulkheadRejection) => T,
  ): Promise<T> {
    const turns = this.#turns.get(number) ?? this.#begin(number);
    turns.count += 1;
    try {
      return await turns.bulkhead.run(urgency, work, onRejected);
    } finally {
      turns.count -= 1;
      if (turns.count === 0) this.#turns.delete(number);
    }
  }

  #begin(number: PhoneNumber): Turns {
    const bulkhead = new Bulkhead({ permits: 1, queue: QUEUE }, this.#clock);
    const turns = { bulkhead, count: 0 };
    this.#turns.set(number, turns);
    return turns;
  }
}
