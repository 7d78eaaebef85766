import type { Instant } from './instant.ts';
import { type MaxAgeHours, lookupKey, type Lookup } from './question.ts';
import type { LookupFailure } from './errors.ts';

export type Fact = DateFact | CheckFact;

export interface DateFact {
  readonly operation: 'retrieve-date';
  /** The last swap, or the SIM's activation if it never changed; `null` when not disclosed. */
  readonly latestSimChange: Instant | null;
  /** With `null`: no swap happened within this number of days (CAMARA SIM Swap 2.1). */
  readonly monitoredPeriodDays?: number;
  /** Whether its age is unknown, since our clock and the operator's disagree. */
  readonly isUndated?: true;
  /** When the request left, in milliseconds since 1970. */
  readonly sentAtMs: number;
}

export interface CheckFact {
  readonly operation: 'check';
  readonly maxAgeHours: MaxAgeHours;
  readonly swapped: boolean;
  readonly sentAtMs: number;
}

/** A fact with times on this process's monotonic clock: wall clocks differ. */
export type TimedFact = Fact & {
  /** The operator's identity. */
  readonly toldBy: string;
  /** When its lookup left, or slightly earlier: its age counts from here. */
  readonly leftAtMs: number;
  /** When its reply arrived, or slightly later. */
  readonly repliedAtMs: number;
  /** The same for all facts of one reply. */
  readonly replyId: string;
  /** Whether it was delivered to its caller, or may be delivered without another prompt. Never reset. */
  readonly isHeard: boolean;
  /** How long it answers, from its reply on, by the settings at the time when it was kept. */
  readonly keepMs?: number | undefined;
};

export function isSameFact(one: TimedFact, other: TimedFact): boolean {
  return one.replyId === other.replyId && lookupKey(one) === lookupKey(other);
}

export function unknownFacts(
  facts: readonly TimedFact[],
  known: readonly TimedFact[],
): readonly TimedFact[] {
  return facts.filter((fact) => !known.some((one) => isSameFact(one, fact)));
}

/** Whether the operator itself said that the SIM changed: a date in the same reply is then that of a swap. */
export function saysSwapped(fact: Fact): boolean {
  switch (fact.operation) {
    case 'retrieve-date':
      return false;
    case 'check':
      return fact.swapped;
  }
}

export function lookupOf(fact: Fact): Lookup {
  switch (fact.operation) {
    case 'retrieve-date':
      return { operation: fact.operation };
    case 'check':
      return { operation: fact.operation, maxAgeHours: fact.maxAgeHours };
  }
}

export interface FailedLookup {
  readonly lookup: Lookup;
  readonly failure: LookupFailure;
}

/** Whether a failure closes another lookup about the same number (docs/design.md, "What a failure closes"). */
export function closes({ lookup: failed, failure }: FailedLookup, lookup: Lookup): boolean {
  switch (failure.reach) {
    case 'number':
      return true;
    case 'operation':
      return failed.operation === lookup.operation;
    case 'question':
      return closesQuestion(failed, failure.code, lookup);
  }
}

function closesQuestion(failed: Lookup, code: LookupFailure['code'], lookup: Lookup): boolean {
  switch (failed.operation) {
    case 'retrieve-date':
      return lookup.operation === failed.operation;
    case 'check':
      if (lookup.operation !== failed.operation) return false;
      return code === 'PERIOD_NOT_SUPPORTED'
        ? failed.maxAgeHours <= lookup.maxAgeHours
        : failed.maxAgeHours === lookup.maxAgeHours;
  }
}
