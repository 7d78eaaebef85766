import type { Instant } from './instant.ts';
import type { MaxAgeHours } from './maxAge.ts';

/** What one lookup told about a number. */
export type Fact = DateFact | CheckFact;

/** The answer of `retrieve-date`. */
export interface DateFact {
  readonly operation: 'retrieve-date';
  /** The last swap, or the SIM's activation if it never changed; `null` when not disclosed. */
  readonly latestSimChange: Instant | null;
  /** With `null`: no swap happened within so many days (CAMARA SIM Swap 2.1). */
  readonly monitoredPeriodDays?: number;
  /** When the request left, milliseconds since 1970. */
  readonly sentAtMs: number;
}

/** The answer of `check`. */
export interface CheckFact {
  readonly operation: 'check';
  readonly maxAgeHours: MaxAgeHours;
  readonly swapped: boolean;
  readonly sentAtMs: number;
}

/** Whether both tell of the same lookup. */
export function isSameFact(one: Fact, other: Fact): boolean {
  return (
    one.operation === other.operation &&
    one.sentAtMs === other.sentAtMs &&
    (one.operation === 'retrieve-date' ||
      (other.operation === 'check' && one.maxAgeHours === other.maxAgeHours))
  );
}
