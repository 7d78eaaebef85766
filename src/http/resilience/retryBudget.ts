import type { Clock } from '../../clock.ts';

const WINDOW_SECONDS = 60;
const SHARE = 0.1;
const ALWAYS_ALLOWED = 10;

/**
 * Keeps retries to a tenth of the exchanges of the last minute, but allows ten a minute (design §5):
 * a few faults are smoothed over, an operator that is down is not asked twice as much.
 */
export class RetryBudget {
  readonly #clock: Clock;
  readonly #exchanges: SlidingCount;
  readonly #retries: SlidingCount;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#exchanges = new SlidingCount(WINDOW_SECONDS);
    this.#retries = new SlidingCount(WINDOW_SECONDS);
  }

  /** Counts a first attempt. */
  count(): void {
    this.#exchanges.add(this.#nowSeconds());
  }

  /** Takes a retry out of the budget, of so many exchanges; `false` when there is no room for all. */
  take(exchanges = 1): boolean {
    const nowSeconds = this.#nowSeconds();
    const allowed = Math.max(ALWAYS_ALLOWED, SHARE * this.#exchanges.total(nowSeconds));
    if (this.#retries.total(nowSeconds) + exchanges > allowed) return false;
    this.#retries.add(nowSeconds, exchanges);
    return true;
  }

  #nowSeconds(): number {
    return Math.floor(this.#clock.monotonicMs() / 1000);
  }
}

/** Counts what happened in the last so many seconds. */
export class SlidingCount {
  readonly #counts: number[];
  #lastSecond = 0;
  #total = 0;

  constructor(windowSeconds: number) {
    this.#counts = Array.from({ length: windowSeconds }, () => 0);
  }

  add(nowSeconds: number, times = 1): void {
    this.#forget(nowSeconds);
    const slot = nowSeconds % this.#counts.length;
    this.#counts[slot] = (this.#counts[slot] ?? 0) + times;
    this.#total += times;
  }

  total(nowSeconds: number): number {
    this.#forget(nowSeconds);
    return this.#total;
  }

  clear(): void {
    this.#counts.fill(0);
    this.#total = 0;
  }

  #forget(nowSeconds: number): void {
    const length = this.#counts.length;
    const oldest = Math.max(this.#lastSecond + 1, nowSeconds - length + 1);
    for (let second = oldest; second <= nowSeconds; second += 1) {
      this.#total -= this.#counts[second % length] ?? 0;
      this.#counts[second % length] = 0;
    }
    this.#lastSecond = Math.max(this.#lastSecond, nowSeconds);
  }
}
