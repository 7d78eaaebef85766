import type { Clock } from '../../system/clock.ts';
import type { PhoneNumber } from '../../domain/phoneNumber.ts';
import { SlidingCount } from './slidingCount.ts';

const WINDOW_SECONDS = 10;
const MIN_EXCHANGES = 20;
const MIN_FAILED_NUMBERS = 5;
const OPENS_AT_SHARE = 0.5;
const TRIES_AGAIN_AFTER_MS = 5000;

/** How an exchange counts: `neither` when it was cut before that could be told. */
export type Health = 'good' | 'bad' | 'neither';

/** A change of the circuit, for the log. */
export type Switched = 'opened' | 'closed';

type State =
  | { readonly is: 'closed' }
  | {
      readonly is: 'open';
      readonly sinceMs: number;
      /** Whose exchange was the last to show that the endpoint still fails. */
      readonly failedFor: PhoneNumber | undefined;
    }
  | { readonly is: 'trying'; readonly before: Extract<State, { is: 'open' }> };

const CLOSED: State = { is: 'closed' };

/**
 * Keeps exchanges away from an endpoint that fails: opens at 50 % failures or more over at least 20
 * exchanges in 10 s, and after 5 s lets one through to see (docs/design.md, "The circuit").
 *
 * Only failures about at least five numbers open it: an operator may fail at a single number, and then a
 * caller who asks about it again and again must not shut out all others. For the same reason a number
 * whose trial failed waits twice as long for the next one as any other.
 */
export class Circuit {
  readonly #clock: Clock;
  readonly #exchanges = new SlidingCount(WINDOW_SECONDS);
  readonly #failures = new SlidingCount(WINDOW_SECONDS);
  readonly #failedNumbers = new LatestNumbers(MIN_FAILED_NUMBERS);
  #state: State = CLOSED;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isClosed(): boolean {
    return this.#state.is === 'closed';
  }

  /** Counts an exchange about a number that was made while the circuit was closed. */
  count(health: Health, about: PhoneNumber): Switched | undefined {
    // Others may have opened it meanwhile.
    if (health === 'neither' || !this.isClosed) return undefined;
    const nowMs = this.#clock.monotonicMs();
    const nowSeconds = Math.floor(nowMs / 1000);
    this.#exchanges.add(nowSeconds);
    if (health === 'good') return undefined;
    this.#failures.add(nowSeconds);
    this.#failedNumbers.add(about, nowSeconds);
    if (!this.#isTooMuch(nowSeconds)) return undefined;
    this.#state = { is: 'open', sinceMs: nowMs, failedFor: undefined };
    return 'opened';
  }

  /** Whether an open circuit lets an exchange about this number through now, to see if the endpoint is back. */
  mayTry(about: PhoneNumber): boolean {
    if (this.#state.is !== 'open') return false;
    const { sinceMs, failedFor } = this.#state;
    const waitMs = failedFor === about ? 2 * TRIES_AGAIN_AFTER_MS : TRIES_AGAIN_AFTER_MS;
    return this.#clock.monotonicMs() - sinceMs >= waitMs;
  }

  /** An exchange begins that {@link mayTry} let through; {@link tried} must follow. */
  trying(): void {
    if (this.#state.is === 'open') this.#state = { is: 'trying', before: this.#state };
  }

  /** It came to this. One that was cut proves nothing, and the circuit stays open. */
  tried(health: Health, about: PhoneNumber): Switched | undefined {
    if (this.#state.is !== 'trying') return undefined;
    const { before } = this.#state;
    const sinceMs = this.#clock.monotonicMs();
    switch (health) {
      case 'good':
        this.#exchanges.clear();
        this.#failures.clear();
        this.#failedNumbers.clear();
        this.#state = CLOSED;
        return 'closed';
      case 'bad':
        this.#state = { is: 'open', sinceMs, failedFor: about };
        return undefined;
      case 'neither':
        this.#state = { ...before, sinceMs };
        return undefined;
    }
  }

  #isTooMuch(nowSeconds: number): boolean {
    const exchanges = this.#exchanges.total(nowSeconds);
    return (
      exchanges >= MIN_EXCHANGES &&
      this.#failures.total(nowSeconds) >= OPENS_AT_SHARE * exchanges &&
      this.#failedNumbers.areAllSince(nowSeconds - WINDOW_SECONDS + 1)
    );
  }
}

/** The last so many different numbers, each with when it was added last. */
class LatestNumbers {
  readonly #size: number;
  /** In the order in which they were added last. */
  readonly #addedAtSeconds = new Map<PhoneNumber, number>();

  constructor(size: number) {
    this.#size = size;
  }

  add(number: PhoneNumber, nowSeconds: number): void {
    this.#addedAtSeconds.delete(number);
    this.#addedAtSeconds.set(number, nowSeconds);
    if (this.#addedAtSeconds.size <= this.#size) return;
    for (const [oldest] of this.#addedAtSeconds) {
      this.#addedAtSeconds.delete(oldest);
      return;
    }
  }

  /** Whether as many as there can be were added then or later. */
  areAllSince(seconds: number): boolean {
    if (this.#addedAtSeconds.size < this.#size) return false;
    return [...this.#addedAtSeconds.values()].every((addedAt) => addedAt >= seconds);
  }

  clear(): void {
    this.#addedAtSeconds.clear();
  }
}
