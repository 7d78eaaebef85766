import type { Clock } from '../system/clock.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import { Bulkhead } from '../resilience/bulkhead.ts';
import {
  lookupFailed,
  type DirectRoute,
  type LookupOutcome,
  type NumberOfRequest,
} from './lookupRoute.ts';

/** How many may wait for the call about one number; more would wait past their deadlines. */
const QUEUE = 100;

/** For an operator that answers 409 to a second call about a number. Waiting takes no permit, and delays no others. */
export class OneLookupPerNumber implements DirectRoute {
  readonly #route: DirectRoute;
  readonly #clock: Clock;
  readonly #bulkheads = new Map<PhoneNumber, Bulkhead>();

  constructor(route: DirectRoute, clock: Clock) {
    this.#route = route;
    this.#clock = clock;
  }

  async lookUp(lookup: Lookup, { number, request }: NumberOfRequest): Promise<LookupOutcome> {
    let bulkhead = this.#bulkheads.get(number);
    if (bulkhead === undefined) {
      bulkhead = new Bulkhead({ permits: 1, queue: QUEUE }, this.#clock);
      this.#bulkheads.set(number, bulkhead);
    }
    const permit = await bulkhead.acquire(request);
    if (permit !== 'acquired') return lookupFailed(lookup, permit);
    const acquiredAtMs = this.#clock.monotonicMs();
    try {
      return await this.#route.lookUp(lookup, { number, request });
    } finally {
      bulkhead.release(acquiredAtMs);
      if (bulkhead.load.underWay === 0) this.#bulkheads.delete(number);
    }
  }
}
