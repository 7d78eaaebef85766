import {
  BrokenCircuitError,
  CircuitState,
  circuitBreaker,
  handleWhenResult,
  type CircuitBreakerPolicy,
  type IBreaker,
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
 */
export class Circuit {
  readonly #policy: CircuitBreakerPolicy;

  constructor(clock: Clock) {
    this.#policy = circuitBreaker(
      handleWhenResult((result) => result instanceof Attempt && result.health === 'bad'),
      { halfOpenAfter: TRIES_AGAIN_AFTER_MS, breaker: new FailureShare(clock) },
    );
  }

  /** Makes an exchange, or, while the circuit is open, returns `undefined` at once. */
  async run<T>(
    exchange: () => Promise<T>,
    healthOf: (result: T) => Health,
  ): Promise<T | undefined> {
    // While one exchange tries whether the endpoint is back, cockatiel would let the others wait for it.
    if (this.#policy.state === CircuitState.HalfOpen) return undefined;
    let finished: Attempt<T> | undefined;
    try {
      await this.#policy.execute(async () => {
        const result = await exchange();
        finished = new Attempt(result, healthOf(result));
        if (finished.health === 'neither') throw new Uncounted();
        return finished;
      });
    } catch (error) {
      if (error instanceof BrokenCircuitError) return undefined;
      if (!(error instanceof Uncounted)) throw error;
    }
    return finished?.result;
  }
}

class Attempt<T> {
  readonly result: T;
  readonly health: Health;

  constructor(result: T, health: Health) {
    this.result = result;
    this.health = health;
  }
}

/** Passes an exchange by cockatiel's counting, which leaves out what throws. */
class Uncounted extends Error {}

/**
 * Decides when the circuit opens. cockatiel's own SamplingBreaker forgets one slice at a time, so after a
 * pause it counts failures of long ago.
 */
class FailureShare implements IBreaker {
  state: unknown = undefined;
  readonly #clock: Clock;
  readonly #all = new SlidingCount(WINDOW_SECONDS);
  readonly #failures = new SlidingCount(WINDOW_SECONDS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  success(state: CircuitState): void {
    if (state === CircuitState.HalfOpen) {
      this.#all.clear();
      this.#failures.clear();
    }
    this.#all.add(this.#nowSeconds());
  }

  /** Whether this failure opens the circuit. */
  failure(state: CircuitState): boolean {
    const nowSeconds = this.#nowSeconds();
    this.#all.add(nowSeconds);
    this.#failures.add(nowSeconds);
    if (state !== CircuitState.Closed) return true;
    const all = this.#all.total(nowSeconds);
    return all >= FEWEST_EXCHANGES && this.#failures.total(nowSeconds) >= OPENS_AT_SHARE * all;
  }

  #nowSeconds(): number {
    return Math.floor(this.#clock.monotonicMs() / 1000);
  }
}
