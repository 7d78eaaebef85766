import type { Asker } from '../domain/asker.ts';
import type { TimedFact } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';

/** How long facts answer further requests of their asker, counted from when their lookup left. */
export interface FactCacheSettings {
  /** KEEP_FACTS_SECONDS, in milliseconds. */
  readonly keepMs: number;
  /** CONSENT_RESULT_SECONDS, in milliseconds: for facts that no request has heard. */
  readonly resultMs: number;
}

/**
 * Facts that answer further requests of the same asker about the same number, without a lookup.
 *
 * A fact answers a request that came in no later than `keepMs` after the fact's lookup left; a fact
 * that no request has heard answers until `resultMs` after it. So no `false` is older than these
 * settings. Ages are taken on the monotonic clock of the process that made the lookup; the store
 * counts on from there by its own clock. No wall clock of a replica has a part in it.
 *
 * Methods of a shared store reject with {@link SharedStateLost} while it cannot be asked.
 */
export interface FactCache {
  /** For how long after its lookup left a fact answers further requests. */
  readonly keepMs: number;

  /** Keeps a fact, or notes for good that it was heard; never prolongs it. May be sent again when lost. */
  keep(asker: Asker, number: PhoneNumber, fact: TimedFact): Promise<void>;

  /**
   * The facts that may answer a request, and those beside them.
   *
   * @param cameInAtMs when the request came in, on this process's monotonic clock
   */
  recall(asker: Asker, number: PhoneNumber, cameInAtMs: number): Promise<CachedFacts>;
}

/** What is kept about a number for one asker. */
export interface CachedFacts {
  /** What may answer the request. */
  readonly facts: readonly TimedFact[];
  /** What may not, having been heard so long ago; no `false` may pass over a change that it tells of. */
  readonly besides: readonly TimedFact[];
}

/** For how long a fact is kept at all: heard or not, for requests that waited for it elsewhere. Pure. */
export function retentionMs({ keepMs, resultMs }: FactCacheSettings): number {
  return Math.max(keepMs, resultMs);
}

/** What facts whose retention is not over are to a request. Pure. */
export function recalledFor(
  kept: readonly TimedFact[],
  cameInAtMs: number,
  { keepMs }: FactCacheSettings,
): CachedFacts {
  const mayAnswer = ({ isHeard, leftAtMs }: TimedFact): boolean =>
    !isHeard || leftAtMs >= cameInAtMs - keepMs;
  return {
    facts: kept.filter(mayAnswer),
    besides: kept.filter((fact) => !mayAnswer(fact)),
  };
}

/**
 * How many facts about a number are kept for one asker; the ones that end first give way. A few tell
 * all there is: the date, the largest window that was `false` and the smallest that was `true`.
 */
export const MAX_FACTS_PER_NUMBER = 32;
