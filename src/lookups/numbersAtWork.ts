import type { Clock } from '../system/clock.ts';

export interface NumberLimits {
  /** Of those that are planned and looked up: each takes its share of the processor. */
  readonly atWork: number;
  /** With those that wait for their owners, which take only memory. */
  readonly held: number;
}

/** So long a place is kept free for a caller that was refused, which asks again in a second. */
const REMEMBER_REFUSED_MS = 2000;

/**
 * Bounds the numbers at work in a process, which would otherwise take all of its memory and all be late together. What is
 * beyond is refused at once. While others are refused no caller gets more than half of what is at work; more than half of
 * what may be held, numbers that wait for owners included, no caller ever gets, for an owner takes long.
 */
export class NumbersAtWork {
  readonly #limits: NumberLimits;
  readonly #clock: Clock;
  readonly #holdings = new Map<string, { atWork: number; held: number }>();
  #atWork = 0;
  #held = 0;
  /** The last two callers that differ: one of them is another than any that asks. */
  #refused: readonly { readonly caller: string; readonly atMs: number }[] = [];

  constructor(limits: NumberLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  take(caller: string): boolean {
    const holding = this.#holdings.get(caller) ?? { atWork: 0, held: 0 };
    const { atWork, held } = this.#limits;
    const isFull =
      this.#atWork >= atWork ||
      this.#held >= held ||
      holding.held >= held / 2 ||
      (holding.atWork >= atWork / 2 && this.#refusesAnotherThan(caller));
    if (isFull) {
      this.#refused = [
        { caller, atMs: this.#clock.monotonicMs() },
        ...this.#refused.filter((one) => one.caller !== caller).slice(0, 1),
      ];
      return false;
    }
    this.#holdings.set(caller, holding);
    holding.atWork += 1;
    holding.held += 1;
    this.#atWork += 1;
    this.#held += 1;
    return true;
  }

  /** For its owner to answer: meanwhile a number that has a place is not at work. */
  wait(caller: string, isWaiting: boolean): void {
    const holding = this.#holdings.get(caller);
    if (holding === undefined) return;
    const change = isWaiting ? -1 : 1;
    holding.atWork += change;
    this.#atWork += change;
  }

  /** Of a number that does not wait for its owner. */
  giveBack(caller: string): void {
    const holding = this.#holdings.get(caller);
    if (holding === undefined) return;
    holding.atWork -= 1;
    holding.held -= 1;
    this.#atWork -= 1;
    this.#held -= 1;
    if (holding.held === 0) this.#holdings.delete(caller);
  }

  #refusesAnotherThan(caller: string): boolean {
    const sinceMs = this.#clock.monotonicMs() - REMEMBER_REFUSED_MS;
    return this.#refused.some((one) => one.caller !== caller && one.atMs > sinceMs);
  }
}
