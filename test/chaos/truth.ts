import { Random } from '../support/random.ts';

const HOUR_MS = 3_600_000;

/** The state of a line. Times are half-way between whole hours, away from the edges of windows. */
export interface TrueLine {
  readonly number: string;
  /** Hours between the last swap and the start of the run; absent where there was none. */
  readonly swappedHoursAgo?: number;
  readonly activatedHoursAgo: number;
  /** The error of the disclosed date; `undefined` where the operator withholds it. */
  readonly dateErrorHours: number | undefined;
}

/** They swap one after another. */
const SWAPPING_LINES = 1000;
const SWAPS_EVERY_MS = 500;

/** They are queried from before they swap until after, so that kept facts grow old. */
const ASKED_BEFORE_MS = 4000;
const ASKED_AFTER_MS = 12_000;

/** 555-0100 to 555-0199 are reserved for fiction in every North American area. */
function fictionalNumber(index: number): string {
  const area = 200 + Math.floor(index / 100);
  return `+1${area}55501${String(index % 100).padStart(2, '0')}`;
}

const FICTIONAL_NUMBERS = 80_000;

/** So many that a number in doubt or denied is seldom queried again. */
const STEADY_LINES = FICTIONAL_NUMBERS - SWAPPING_LINES;

const SWAPPING = new Map(
  Array.from({ length: SWAPPING_LINES }, (_, index) => [
    fictionalNumber(STEADY_LINES + index),
    (index + 1) * SWAPS_EVERY_MS,
  ]),
);

/** The truth about every number at any time of the run: some lines swap meanwhile. */
export class Truth {
  readonly startedAtMs: number;
  readonly #seed: number;

  constructor(seed: number, startedAtMs: number) {
    this.#seed = seed;
    this.startedAtMs = startedAtMs;
  }

  line(number: string): TrueLine {
    const random = new Random(this.#seed ^ Number(number.slice(1)));
    const swaps = random.chance(0.5);
    const age = () => random.pick([2, 20, 70, 200, 300, 700, 1500, 2300]) + 0.5;
    const withheld = random.chance(0.2);
    const error = (random.next() * 2 - 1) * 47;
    return {
      number,
      ...(swaps ? { swappedHoursAgo: age() } : {}),
      activatedHoursAgo: 90_000,
      dateErrorHours: withheld ? undefined : error,
    };
  }

  /** A number to query: one in three swaps at about that time. */
  pick(random: Random, atMs: number): string {
    if (!random.chance(0.3)) return fictionalNumber(random.below(STEADY_LINES));
    const near = atMs - this.startedAtMs - ASKED_AFTER_MS;
    const span = ASKED_BEFORE_MS + ASKED_AFTER_MS;
    const index = Math.floor((near + random.below(span)) / SWAPS_EVERY_MS);
    return fictionalNumber(STEADY_LINES + Math.min(Math.max(0, index), SWAPPING_LINES - 1));
  }

  swappedWithin(number: string, maxAgeHours: number, atMs: number): boolean {
    const { swappedHoursAgo = Infinity } = this.line(number);
    return this.#hasSwapped(number, atMs) || swappedHoursAgo <= maxAgeHours;
  }

  latestSimChange(number: string, atMs: number): string | null {
    const { swappedHoursAgo, activatedHoursAgo, dateErrorHours } = this.line(number);
    if (dateErrorHours === undefined) return null;
    if (this.#hasSwapped(number, atMs)) return new Date(this.#swapsAtMs(number)).toISOString();
    // The operator's date may be wrong, but is not in the future.
    const hoursAgo = Math.max(0, (swappedHoursAgo ?? activatedHoursAgo) + dateErrorHours);
    return new Date(this.startedAtMs - hoursAgo * HOUR_MS).toISOString();
  }

  #hasSwapped(number: string, atMs: number): boolean {
    return this.#swapsAtMs(number) <= atMs;
  }

  #swapsAtMs(number: string): number {
    return this.startedAtMs + (SWAPPING.get(number) ?? Infinity);
  }
}
