import type { Clock } from '../system/clock.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import { Bulkhead, type Permit } from '../http/resilience/bulkhead.ts';
import type { Urgency } from '../http/urgency.ts';

/** So many wait for the call about one number; more would wait longer than they may. */
const QUEUE = 100;

/**
 * One piece of work about a number at a time, for an operator that answers 409 to a second call. Waiting for
 * it takes no permit, so that one number keeps no other from being asked about.
 */
export class KeyedMutex {
  readonly #clock: Clock;
  readonly #bulkheads = new Map<PhoneNumber, Bulkhead>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits while other work about the number is under way; {@link release} gives the permit back. Never rejects. */
  acquire(number: PhoneNumber, urgency: Urgency): Permit | Promise<Permit> {
    let bulkhead = this.#bulkheads.get(number);
    if (bulkhead === undefined) {
      bulkhead = new Bulkhead({ permits: 1, queue: QUEUE }, this.#clock);
      this.#bulkheads.set(number, bulkhead);
    }
    return bulkhead.acquire(urgency);
  }

  /** @param acquiredAtMs on the monotonic clock */
  release(number: PhoneNumber, acquiredAtMs: number): void {
    const bulkhead = this.#bulkheads.get(number);
    bulkhead?.release(acquiredAtMs);
    if (bulkhead?.load.underWay === 0) this.#bulkheads.delete(number);
  }
}
