import { Random } from './random.ts';

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

/** What is true of every number, for as long as the run lasts. */
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

  /** What `check` truly answers. */
  swappedWithin(number: string, maxAgeHours: number): boolean {
    const { swappedHoursAgo = Infinity } = this.line(number);
    return swappedHoursAgo <= maxAgeHours;
  }

  /** What `retrieve-date` truly answers. */
  latestSimChange(number: string): string | null {
    const { swappedHoursAgo, activatedHoursAgo, dateErrorHours } = this.line(number);
    if (dateErrorHours === undefined) return null;
    // The operator may be wrong about when, but not tell of the future.
    const hoursAgo = Math.max(0, (swappedHoursAgo ?? activatedHoursAgo) + dateErrorHours);
    return new Date(this.startedAtMs - hoursAgo * HOUR_MS).toISOString();
  }
}
