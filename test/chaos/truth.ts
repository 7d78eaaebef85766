import { Random } from '../random.ts';

const HOUR_MS = 3_600_000;

/** A line as it truly is. Times lie half-way between whole hours, so that no window's edge is near. */
export interface TrueLine {
  readonly number: string;
  /** Hours between the last swap and the start of the run; absent where there was none. */
  readonly swappedHoursAgo?: number;
  readonly activatedHoursAgo: number;
  /** How far the disclosed date is off; `undefined` where the operator withholds it. */
  readonly dateErrorHours: number | undefined;
}

/** One such line swaps after another, for as long as there are any. */
const SWAPPING_LINES = 1000;
const SWAPS_EVERY_MS = 500;

/** Asked about from a while before they swap until a while after, so that what is kept of them grows old. */
const ASKED_BEFORE_MS = 4000;
const ASKED_AFTER_MS = 12_000;

/** 555-0100 to 555-0199 are reserved for fiction in every North American area. */
function fictionalNumber(index: number): string {
  const area = 200 + Math.floor(index / 100);
  return `+1${area}55501${String(index % 100).padStart(2, '0')}`;
}

const FICTIONAL_NUMBERS = 80_000;

/** So many that a number in doubt, or denied, is seldom the one that is asked about. */
const STEADY_LINES = FICTIONAL_NUMBERS - SWAPPING_LINES;

const SWAPPING = new Map(
  Array.from({ length: SWAPPING_LINES }, (_, index) => [
    fictionalNumber(STEADY_LINES + index),
    (index + 1) * SWAPS_EVERY_MS,
  ]),
);

/** What is true of every number at any time of the run: some lines swap meanwhile. */
export class Truth {
  readonly startedAtMs: number;
  readonly #seed: number;

  constructor(seed: number, startedAtMs: number) {
    this.#seed = seed;
    this.startedAtMs = startedAtMs;
  }

  /** The same line for the same number, whenever it is asked for. */
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

  /** A number to ask about: one in three is of a line that swaps at about that time. */
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
    // The operator may be wrong about when, but not tell of the future.
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
