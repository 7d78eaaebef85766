import type { DateTrust } from '../domain/deduction.ts';
import type { FailedLookup } from '../domain/failedLookup.ts';
import type { Fact } from '../domain/fact.ts';
import type { Instant } from '../domain/instant.ts';
import type { Operation, Question } from '../domain/question.ts';
import type { LookupFailure } from '../errors.ts';

/** What one operator offers, as far as the planner cares. */
export interface Offer extends DateTrust {
  readonly operations: ReadonlySet<Operation>;
  /** The largest window that `check` takes. */
  readonly maxAgeHours: number;
}

/** Everything asked and learned about one number in one operation. */
export interface Plan {
  readonly questions: readonly Question[];
  readonly facts: readonly Fact[];
  readonly failures: readonly FailedLookup[];
}

/** What a question came to. A failure is provisional: a later fact may take its place. */
export type Answer =
  | { readonly latestSimChange: Instant | null }
  | { readonly swapped: boolean }
  | { readonly failure: LookupFailure };
