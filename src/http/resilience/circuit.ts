import {
  BrokenCircuitError,
  CircuitState,
  circuitBreaker,
  ConsecutiveBreaker,
  handleWhenResult,
} from 'cockatiel';
import type { Clock } from '../../clock.ts';
import { SlidingCount } from './retryBudget.ts';

const WINDOW_SECONDS = 10;
const FEWEST_EXCHANGES = 20;
const OPENS_AT_SHARE = 0.5;
const TRIES_AGAIN_AFTER_MS = 5000;

/** How an exchange counts: `neither` when it was cut before anyone could tell. */
export type Health = 'good' | 'bad' | 'neither';

/**
 * Keeps exchanges away from an endpoint that fails: opens at 50 % failures or more over at least 20
 * exchanges in 10 s, and after 5 s lets one through to see (design §5).
 *
 * While it is closed, exchanges are made and counted; while it is not, one may be tried. cockatiel opens and
 * closes it, and is shown no more than that: it would wrap every exchange in promises of its own. The
 * counts are ours, as its SamplingBreaker forgets one slice at a time, so that after a pause it counts
 * failures of long ago.
 */
export class Circuit {
  /** Opens at the first exchange that it is shown. */
  readonly #policy = circuitBreaker(
    handleWhenResult((tried) => !isGood(tried)),
    { halfOpenAfter: TRIES_AGAIN_AFTER_MS, breaker: new ConsecutiveBreaker(1) },
  );
  readonly #share: FailureShare;

  constructor(clock: Clock) {
    this.#share = new FailureShare(clock);
  }

  get isClosed(): boolean {
    return this.#policy.state === CircuitState.Closed;
  }

  /** Counts an exchange that was made while the circuit was closed, and may open it. */
  count(health: Health): void {
    // Others may have opened it meanwhile.
    if (health === 'neither' || !this.isClosed || !this.#share.opensAt(health)) return;
    void this.#policy.execute(() => ({ health }));
  }

  /**
   * Makes an exchange to see whether the endpoint is back, if it is time for one; `undefined` when not. The
   * circuit stays open after one that was cut, since that proves nothing.
   */
  async try<T extends { readonly health: Health }>(
    exchange: () => Promise<T>,
  ): Promise<T | undefined> {
    // While another one tries, cockatiel would let this one wait for it.
    if (this.#policy.state === CircuitState.HalfOpen) return undefined;
    try {
      const tried = await this.#policy.execute(exchange);
      if (tried.health === 'good') this.#share.clear();
      return tried;
    } catch (error) {
      if (!(error instanceof BrokenCircuitError)) throw error;
      return undefined;
    }
  }
}

function isGood(tried: unknown): boolean {
  return (
    typeof tried === 'object' && tried !== null && 'health' in tried && tried.health === 'good'
  );
}

/** Counts what happened lately, and says when it is too much. */
class FailureShare {
  readonly #clock: Clock;
  readonly #all = new SlidingCount(WINDOW_SECONDS);
  readonly #failures = new SlidingCount(WINDOW_SECONDS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  clear(): void {
    this.#all.clear();
    this.#failures.clear();
  }

  /** Counts one more exchange; whether it opens the circuit. */
  opensAt(health: 'good' | 'bad'): boolean {
    const nowSeconds = Math.floor(this.#clock.monotonicMs() / 1000);
    this.#all.add(nowSeconds);
    if (health === 'good') return false;
    this.#failures.add(nowSeconds);
    const all = this.#all.total(nowSeconds);
    return all >= FEWEST_EXCHANGES && this.#failures.total(nowSeconds) >= OPENS_AT_SHARE * all;
  }
}
