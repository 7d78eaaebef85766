import type { Clock } from '../../system/clock.ts';

const EARNED_PER_EXCHANGE = 0.1;
/** What busy times save up for a burst of faults. */
const MAX_EARNED = 100;
const GRANTED_PER_MINUTE = 10;
const MINUTE_MS = 60_000;

/**
 * A token bucket that holds retries to a tenth of the exchanges, or to ten a minute where that is more
 * (docs/design.md, "The retry budget"): a few faults are smoothed over, an operator that is down is not asked
 * twice as much.
 *
 * Exchanges earn tokens, and time grants some. Each retry is taken from both, so that what was granted is not
 * earned again: the earned ones may run into debt for it.
 */
export class RetryBudget {
  readonly #clock: Clock;
  #earned = 0;
  #granted = GRANTED_PER_MINUTE;
  #grantedAtMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#grantedAtMs = clock.monotonicMs();
  }

  /** Counts a first attempt. */
  count(): void {
    this.#earned = Math.min(MAX_EARNED, this.#earned + EARNED_PER_EXCHANGE);
  }

  /** Takes a retry of so many exchanges out of the budget; `false` when it does not hold them all. */
  take(exchanges = 1): boolean {
    this.#grant();
    if (Math.max(this.#earned, this.#granted) < exchanges - ROUNDING) return false;
    this.#earned = Math.max(-GRANTED_PER_MINUTE, this.#earned - exchanges);
    this.#granted = Math.max(0, this.#granted - exchanges);
    return true;
  }

  #grant(): void {
    const nowMs = this.#clock.monotonicMs();
    const grant = ((nowMs - this.#grantedAtMs) / MINUTE_MS) * GRANTED_PER_MINUTE;
    this.#granted = Math.min(GRANTED_PER_MINUTE, this.#granted + grant);
    this.#grantedAtMs = nowMs;
  }
}

/** Ten tenths are a little less than one. */
const ROUNDING = 1e-6;
