import type { LookupFailure } from '../domain/errors.ts';
import { crowded, TypicalTime } from '../resilience/bulkhead.ts';
import type { Clock } from '../system/clock.ts';

export interface NumberLimits {
  /** The limit on numbers that are being planned and looked up: each takes its share of the processor. */
  readonly atWork: number;
  /** The limit including numbers that wait for their owners, which take only memory. */
  readonly held: number;
}

/** How long a place is kept free for a refused caller, once it may retry. */
const REMEMBER_REFUSED_MS = 1000;

/** Of the latest number: a few lists that end at once are not the pace of all. */
const LATEST_WEIGHT = 0.001;

interface Holding {
  atWork: number;
  held: number;
}

/**
 * Limits the numbers at work in a process: without a limit they would take all of its memory and all be late. Numbers
 * beyond the limit are refused at once, until those at work are done by their present pace. While others are refused, a
 * caller gets at most half of the places at work. It never has more than half of all that is held, including numbers
 * that wait for their owners, since an owner takes long.
 */
export class NumbersAtWork {
  readonly #limits: NumberLimits;
  readonly #clock: Clock;
  readonly #holdings = new Map<string, Holding>();
  readonly #typical = new TypicalTime(LATEST_WEIGHT);
  #atWork = 0;
  #held = 0;
  /** The last two refused callers: at least one differs from any given caller. */
  #refused: readonly { readonly caller: string; readonly untilMs: number }[] = [];

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

  take(caller: string): Place | LookupFailure {
    const holding = this.#holdings.get(caller) ?? { atWork: 0, held: 0 };
    const { atWork, held } = this.#limits;
    const nowMs = this.#clock.monotonicMs();
    const isFull =
      this.#atWork >= atWork ||
      this.#held >= held ||
      holding.held >= held / 2 ||
      (holding.atWork >= atWork / 2 &&
        this.#refused.some((one) => one.caller !== caller && one.untilMs > nowMs));
    if (isFull) {
      const afterMs = Math.max(1000, this.#typical.ms);
      this.#refused = [
        { caller, untilMs: nowMs + afterMs + REMEMBER_REFUSED_MS },
        ...this.#refused.filter((one) => one.caller !== caller).slice(0, 1),
      ];
      return crowded(afterMs);
    }
    this.#holdings.set(caller, holding);
    const place = { caller, holding, isWaiting: false, sinceMs: nowMs };
    holding.atWork += 1;
    this.#atWork += 1;
    holding.held += 1;
    this.#held += 1;
    return place;
  }

  /** A number begins, or stops, to wait for its owner; while it waits it is not at work. */
  wait(place: Place, isWaiting: boolean): void {
    if (isWaiting === place.isWaiting) return;
    const nowMs = this.#clock.monotonicMs();
    if (isWaiting) this.#typical.add(nowMs - place.sinceMs);
    place.isWaiting = isWaiting;
    place.sinceMs = nowMs;
    const change = isWaiting ? -1 : 1;
    place.holding.atWork += change;
    this.#atWork += change;
  }

  /** To be called once for each place. */
  giveBack(place: Place): void {
    const { caller, holding } = place;
    this.wait(place, true);
    holding.held -= 1;
    this.#held -= 1;
    if (holding.held === 0) this.#holdings.delete(caller);
  }
}

/** Of one number. */
export interface Place {
  readonly caller: string;
  readonly holding: Holding;
  /** For its owner. */
  isWaiting: boolean;
  /** Since when it is at work, or waits, on the monotonic clock. */
  sinceMs: number;
}
