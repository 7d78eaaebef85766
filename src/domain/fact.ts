import type { Instant } from './instant.ts';
import type { MaxAgeHours } from './maxAge.ts';
import { lookupKey, type Lookup } from './question.ts';

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
  return one.sentAtMs === other.sentAtMs && lookupKey(lookupOf(one)) === lookupKey(lookupOf(other));
}

/** The facts that are not among the known ones. Pure. */
export function unknownFacts<F extends Fact>(
  facts: readonly F[],
  known: readonly Fact[],
): readonly F[] {
  return facts.filter((fact) => !known.some((one) => isSameFact(one, fact)));
}

/** Whether the operator itself said that the SIM changed: what a date beside it tells is then a swap. Pure. */
export function saysSwapped(fact: Fact): boolean {
  switch (fact.operation) {
    case 'retrieve-date':
      return false;
    case 'check':
      return fact.swapped;
  }
}

/** The lookup that told the fact. Pure. */
export function lookupOf(fact: Fact): Lookup {
  switch (fact.operation) {
    case 'retrieve-date':
      return { operation: fact.operation };
    case 'check':
      return { operation: fact.operation, maxAgeHours: fact.maxAgeHours };
  }
}
