import type { Clock } from '../system/clock.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';

const WINDOW_SECONDS = 10;
const MIN_EXCHANGES = 20;
const MIN_FAILED_NUMBERS = 5;
const OPENS_AT_SHARE = 0.5;
const TRIES_AGAIN_AFTER_MS = 5000;

/** `neither`: it was cut off before it showed anything. */
export type Health = 'good' | 'bad' | 'neither';

export type Switched = 'opened' | 'closed';

type State =
  | { readonly is: 'closed' }
  | {
      readonly is: 'open';
      readonly sinceMs: number;
      /** The number of the last trial that failed. */
      readonly failedFor: PhoneNumber | undefined;
    }
  | { readonly is: 'trying'; readonly before: Extract<State, { is: 'open' }> };

const CLOSED: State = { is: 'closed' };

/**
 * docs/design.md, "The circuit". An operator may fail at a single number, which must not block all others: only failures
 * about several numbers open it, and a number whose trial failed waits twice as long for the next one as any other.
 */
export class Circuit {
  readonly #clock: Clock;
  readonly #exchanges = new SlidingCount(WINDOW_SECONDS);
  readonly #failures = new SlidingCount(WINDOW_SECONDS);
  /** The latest numbers for which exchanges failed, with the second of each; the oldest first. */
  readonly #failedNumbers = new Map<PhoneNumber, number>();
  #state: State = CLOSED;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isClosed(): boolean {
    return this.#state.is === 'closed';
  }

  /** Counts an exchange about a number that was made while the circuit was closed. */
  count(health: Health, about: PhoneNumber): Switched | undefined {
    // Another exchange may have opened it meanwhile.
    if (health === 'neither' || this.#state.is !== 'closed') return undefined;
    const nowMs = this.#clock.monotonicMs();
    const nowSeconds = Math.floor(nowMs / 1000);
    this.#exchanges.add(nowSeconds);
    if (health === 'good') return undefined;
    this.#failures.add(nowSeconds);
    this.#failedNumbers.delete(about);
    this.#failedNumbers.set(about, nowSeconds);
    const [oldest = about] = this.#failedNumbers.keys();
    if (this.#failedNumbers.size > MIN_FAILED_NUMBERS) this.#failedNumbers.delete(oldest);
    if (!this.#isTooMuch(nowSeconds)) return undefined;
    this.#state = { is: 'open', sinceMs: nowMs, failedFor: undefined };
    return 'opened';
  }

  /**
   * Whether an open circuit lets an exchange about this number through now, as a trial. If so, the trial begins, and
   * {@link tried} must be called after it.
   */
  tries(about: PhoneNumber): boolean {
    if (this.#state.is !== 'open') return false;
    const { sinceMs, failedFor } = this.#state;
    const waitMs = failedFor === about ? 2 * TRIES_AGAIN_AFTER_MS : TRIES_AGAIN_AFTER_MS;
    if (this.#clock.monotonicMs() - sinceMs < waitMs) return false;
    this.#state = { is: 'trying', before: this.#state };
    return true;
  }

  /** A trial that was cut off proves nothing, and the circuit stays open. */
  tried(health: Health, about: PhoneNumber): Switched | undefined {
    if (this.#state.is !== 'trying') return undefined;
    const { before } = this.#state;
    const sinceMs = this.#clock.monotonicMs();
    if (health === 'good') {
      this.#exchanges.clear();
      this.#failures.clear();
      this.#failedNumbers.clear();
      this.#state = CLOSED;
      return 'closed';
    }
    const failedFor = health === 'bad' ? about : before.failedFor;
    this.#state = { is: 'open', sinceMs, failedFor };
    return undefined;
  }

  #isTooMuch(nowSeconds: number): boolean {
    const exchanges = this.#exchanges.add(nowSeconds, 0);
    const [oldestSecond = nowSeconds] = this.#failedNumbers.values();
    return (
      exchanges >= MIN_EXCHANGES &&
      this.#failures.add(nowSeconds, 0) >= OPENS_AT_SHARE * exchanges &&
      this.#failedNumbers.size === MIN_FAILED_NUMBERS &&
      oldestSecond > nowSeconds - WINDOW_SECONDS
    );
  }
}

export class SlidingCount {
  readonly #counts: number[];
  #lastSecond = 0;
  #total = 0;

  constructor(windowSeconds: number) {
    this.#counts = Array.from({ length: windowSeconds }, () => 0);
  }

  add(nowSeconds: number, more = 1): number {
    const { length } = this.#counts;
    const oldest = Math.max(this.#lastSecond + 1, nowSeconds - length + 1);
    for (let second = oldest; second <= nowSeconds; second += 1) {
      this.#total -= this.#counts[second % length] ?? 0;
      this.#counts[second % length] = 0;
    }
    this.#lastSecond = Math.max(this.#lastSecond, nowSeconds);
    this.#counts[nowSeconds % length] = (this.#counts[nowSeconds % length] ?? 0) + more;
    this.#total += more;
    return this.#total;
  }

  clear(): void {
    this.#counts.fill(0);
    this.#total = 0;
  }
}
