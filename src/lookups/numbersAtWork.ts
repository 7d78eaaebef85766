import type { Clock } from '../system/clock.ts';

export interface NumberLimits {
  /** The limit on numbers that are being planned and looked up: each takes its share of the processor. */
  readonly atWork: number;
  /** The limit including numbers that wait for their owners, which take only memory. */
  readonly held: number;
}

/** How long a place is kept free for a refused caller, which retries after a second. */
const REMEMBER_REFUSED_MS = 2000;

/**
 * Limits the numbers at work in a process: without a limit they would take all of its memory and all be late. Numbers
 * beyond the limit are refused at once. While others are refused, a caller gets at most half of the places at work. It
 * never has more than half of all that is held, including numbers that wait for their owners, since an owner takes
 * long.
 */
export class NumbersAtWork {
  readonly #limits: NumberLimits;
  readonly #clock: Clock;
  readonly #holdings = new Map<string, { atWork: number; held: number }>();
  #atWork = 0;
  #held = 0;
  /** The last two refused callers: at least one differs from any given caller. */
  #refused: readonly { readonly caller: string; readonly atMs: number }[] = [];

  constructor(limits: NumberLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get load() {
    const { atWork: atWorkPlaces, held: heldPlaces } = this.#limits;
    return [
      { kind: 'at-work', numbers: this.#atWork, places: atWorkPlaces },
      { kind: 'held', numbers: this.#held, places: heldPlaces },
    ] as const;
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

  /** A number that has a place begins, or stops, to wait for its owner; while it waits it is not at work. */
  wait(caller: string, isWaiting: boolean): void {
    const holding = this.#holdings.get(caller);
    if (holding === undefined) return;
    const change = isWaiting ? -1 : 1;
    holding.atWork += change;
    this.#atWork += change;
  }

  /** Frees the place of a number, which must not be waiting for its owner. */
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
