import type { Clock } from '../system/clock.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { LookupRequest } from '../lookups/lookupRoute.ts';
import type { FieldAnswer, SimSwapLoader } from './simSwapLoader.ts';

/** How many numbers all requests together may hold. */
export interface NumberLimits {
  /** Of those that are planned and looked up: each takes its share of the processor. */
  readonly atWork: number;
  /** With those that wait for their owners, who take memory alone. */
  readonly held: number;
}

/** A number of one request, until all of its answers are there. */
interface Place {
  /** For its owner to answer: meanwhile it is not at work. */
  wait(isWaiting: boolean): void;
  giveBack(): void;
}

interface Taken {
  readonly place: Place;
  openAnswers: number;
}

/** How many numbers one caller holds. */
interface Holding {
  atWork: number;
  held: number;
}

interface Refused {
  readonly caller: string;
  readonly atMs: number;
}

/** What a number hears that is not taken in. */
const NO_PLACE: LookupFailure = { code: 'UNAVAILABLE', reach: 'number', retryAfterSeconds: 1 };

/** A caller that was refused asks again in a second: so long a place is kept free for it. */
const REMEMBER_REFUSED_MS = 2000;

/**
 * Bounds the numbers that are at work in a process, whichever requests they belong to: without it they would take all
 * of its memory, and all of them would be late together. What is beyond is answered at once, and asks nothing.
 *
 * While others are refused no caller gets more than half of what is at work; more than half of what may be held,
 * owners' numbers included, no caller ever gets, for an owner takes long.
 */
export class NumbersAtWork {
  readonly #limits: NumberLimits;
  readonly #clock: Clock;
  readonly #holdings = new Map<string, Holding>();
  #atWork = 0;
  #held = 0;
  /** The last two callers that differ: one of them is another than any that asks. */
  #refused: readonly Refused[] = [];

  constructor(limits: NumberLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** A loader of one request that takes in no more numbers than there are places. */
  bound(request: LookupRequest, loader: SimSwapLoader): SimSwapLoader {
    const taken = new Map<PhoneNumber, Taken>();
    const refused = new Set<PhoneNumber>();
    request.onOwnerWait = (number, isWaiting) => taken.get(number)?.place.wait(isWaiting);
    return {
      answer: (number, ask) => {
        const known = taken.get(number);
        const place = known?.place ?? this.#take(request.caller.key, number, refused);
        if (place === undefined) return Promise.resolve(REFUSED);
        const one = known ?? { place, openAnswers: 0 };
        taken.set(number, one);
        one.openAnswers += 1;
        const answering = loader.answer(number, ask);
        const end = (): void => {
          one.openAnswers -= 1;
          if (one.openAnswers > 0) return;
          taken.delete(number);
          place.giveBack();
        };
        answering.then(end, end);
        return answering;
      },
      told: () => loader.told(),
    };
  }

  /** `undefined` for good where a number was refused once: its fields say the same. */
  #take(caller: string, number: PhoneNumber, refused: Set<PhoneNumber>): Place | undefined {
    const holding = this.#holdings.get(caller) ?? { atWork: 0, held: 0 };
    if (refused.has(number) || this.#isFull(caller, holding)) {
      refused.add(number);
      this.#refused = [
        { caller, atMs: this.#clock.monotonicMs() },
        ...this.#refused.filter((one) => one.caller !== caller).slice(0, 1),
      ];
      return undefined;
    }
    this.#holdings.set(caller, holding);
    this.#change(holding, 1, 1);
    let isWaiting = false;
    return {
      wait: (now) => {
        if (now === isWaiting) return;
        isWaiting = now;
        this.#change(holding, now ? -1 : 1, 0);
      },
      giveBack: () => {
        this.#change(holding, isWaiting ? 0 : -1, -1);
        if (holding.held === 0) this.#holdings.delete(caller);
      },
    };
  }

  #isFull(caller: string, { atWork, held }: Holding): boolean {
    const limits = this.#limits;
    if (this.#atWork >= limits.atWork || this.#held >= limits.held) return true;
    if (held >= limits.held / 2) return true;
    return atWork >= limits.atWork / 2 && this.#refusesAnotherThan(caller);
  }

  #refusesAnotherThan(caller: string): boolean {
    const sinceMs = this.#clock.monotonicMs() - REMEMBER_REFUSED_MS;
    return this.#refused.some((one) => one.caller !== caller && one.atMs > sinceMs);
  }

  #change(holding: Holding, atWork: number, held: number): void {
    holding.atWork += atWork;
    holding.held += held;
    this.#atWork += atWork;
    this.#held += held;
  }
}

const REFUSED: FieldAnswer = { kind: 'failure', failure: NO_PLACE };
