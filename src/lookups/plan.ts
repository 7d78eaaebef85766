import type { DateTrust, Deduced } from '../domain/deduction.ts';
import type { TimedFact } from '../domain/fact.ts';
import type { FailedLookup } from '../domain/failedLookup.ts';
import type { Instant } from '../domain/instant.ts';
import type { Operation, Question } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';

/** What one operator offers, as far as the planner cares. */
export interface Offer extends DateTrust {
  readonly operations: ReadonlySet<Operation>;
  /** The largest window that `check` takes. */
  readonly maxAgeHours: number;
}

/** Everything asked and learned about one number in one operation. */
export interface Plan {
  readonly questions: readonly Question[];
  readonly facts: readonly TimedFact[];
  /** Facts that are kept and answer nothing here: no `false` may pass over a change that they tell of. */
  readonly besides?: readonly TimedFact[];
  readonly failures: readonly FailedLookup[];
}

/**
 * What a question came to. A failure is provisional: a later fact may take its place. `asOfMs` is when the
 * operator was asked for what the answer follows `from`, milliseconds since 1970.
 */
export type Answer =
  | {
      readonly kind: 'date';
      readonly latestSimChange: Instant | null;
      readonly asOfMs: number;
      readonly from: readonly TimedFact[];
    }
  | ({ readonly kind: 'window' } & Deduced)
  | { readonly kind: 'failure'; readonly failure: LookupFailure };
