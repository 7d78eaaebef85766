import { hash } from 'node:crypto';
import type { CallerKey } from '../domain/identity.ts';
import { saysSwapped, type TimedFact } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';

/** One caller key and one number in one string, of one length however long a caller's name is. */
export function hashedCallerKey({ caller, purpose }: CallerKey, number: PhoneNumber): string {
  return hash('sha256', JSON.stringify([number, caller.key, purpose]), 'base64url');
}

/** Says how long the facts of an operator are kept, by its identity; `undefined` where it is none of ours any more. */
export type KeptFor = (operator: string) => FactCacheSettings | undefined;

/** How long facts answer further requests of their caller, counted from when their lookup left. */
export interface FactCacheSettings {
  /** KEEP_FACTS_SECONDS, in milliseconds. */
  readonly keepMs: number;
  /** CONSENT_RESULT_SECONDS, in milliseconds: for facts that no request has heard. */
  readonly resultMs: number;
}

/**
 * Facts that answer further requests of the same caller about the same number, without a lookup, whichever operator told
 * them.
 *
 * A fact answers a request that came in no later than `keepMs` after the fact's lookup left; a fact
 * that no request has heard answers until `resultMs` after it. So no `false` is older than these
 * settings. Ages are taken on the monotonic clock of the process that made the lookup; the store
 * counts on from there by its own clock. No wall clock of a replica has a part in it.
 *
 * Methods of a shared store reject with {@link SharedStateLost} while it cannot be asked.
 */
export interface FactCache {
  /** Keeps a fact, or notes for good that it was heard; never prolongs it. May be sent again when lost. */
  keep(callerKey: CallerKey, number: PhoneNumber, fact: TimedFact): Promise<void>;

  /**
   * The facts that may answer a request, and those beside them.
   *
   * @param cameInAtMs when the request came in, on this process's monotonic clock
   */
  recall(callerKey: CallerKey, number: PhoneNumber, cameInAtMs: number): Promise<RecalledFacts>;
}

export interface CachedFacts {
  readonly facts: readonly TimedFact[];
  /** What may not, having been heard so long ago; no `false` may pass over a change that it tells of. */
  readonly besides: readonly TimedFact[];
}

export interface RecalledFacts extends CachedFacts {
  /** Whatever was kept before is among them, on this process's monotonic clock. */
  readonly recalledAtMs: number;
}

/** For how long a fact is kept at all: heard or not, for requests that waited for it elsewhere. Pure. */
export function retentionMs({ toldBy }: TimedFact, keptFor: KeptFor): number {
  const { keepMs, resultMs } = keptFor(toldBy) ?? NOT_KEPT;
  return Math.max(keepMs, resultMs);
}

const NOT_KEPT: FactCacheSettings = { keepMs: 0, resultMs: 0 };

/**
 * What facts whose retention is not over are to a request. Of an operator that is none of ours any more it is not known
 * how far its dates may be believed: only that a SIM changed answers, and a date stands beside what others say. Pure.
 */
export function recalledFor(
  kept: readonly TimedFact[],
  cameInAtMs: number,
  keptFor: KeptFor,
): CachedFacts {
  const mayAnswer = (fact: TimedFact): boolean => {
    const settings = keptFor(fact.toldBy);
    if (settings === undefined) return saysSwapped(fact);
    return !fact.isHeard || fact.leftAtMs >= cameInAtMs - settings.keepMs;
  };
  return {
    facts: kept.filter(mayAnswer),
    besides: kept.filter((fact) => !mayAnswer(fact)),
  };
}

/**
 * How many facts about a number are kept for one caller; the ones that end first give way. A few tell
 * all there is: the date, the largest window that was `false` and the smallest that was `true`.
 */
export const MAX_FACTS_PER_NUMBER = 32;
