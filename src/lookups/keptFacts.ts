import type { Asker } from '../domain/asker.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { TimedFact } from './lookupRoute.ts';

/** How long facts answer further requests of their asker, counted from when their lookup left. */
export interface KeptFactsSettings {
  /** KEEP_FACTS_SECONDS, in milliseconds. */
  readonly keepMs: number;
  /** CONSENT_RESULT_SECONDS, in milliseconds: for facts that no request has heard. */
  readonly resultMs: number;
}

/** What is kept of a fact, on whichever clock its times are. */
export interface KeptFact {
  readonly fact: TimedFact;
  /** Whether some request has heard it, and so needs to hear it no more. */
  readonly isHeard: boolean;
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
export interface KeptFacts {
  /** For how long after its lookup left a fact answers further requests. */
  readonly keepMs: number;

  /** Keeps facts for as long as these settings say from now on, those included that are kept. */
  renew(settings: KeptFactsSettings): void;

  /** Keeps a fact, or changes whether it was heard; never prolongs it. May be sent again when lost. */
  keep(asker: Asker, number: PhoneNumber, fact: TimedFact, isHeard: boolean): Promise<void>;

  /**
   * The facts that may answer a request.
   *
   * @param cameInAtMs when the request came in, on this process's monotonic clock
   */
  recall(asker: Asker, number: PhoneNumber, cameInAtMs: number): Promise<readonly TimedFact[]>;
}

/** For how long a fact is kept at all: heard or not, for requests that waited for it elsewhere. Pure. */
export function retentionMs({ keepMs, resultMs }: KeptFactsSettings): number {
  return Math.max(keepMs, resultMs);
}

/** Whether a fact whose retention is not over may answer a request. Pure. */
export function mayAnswer(
  { fact, isHeard }: KeptFact,
  cameInAtMs: number,
  { keepMs }: KeptFactsSettings,
): boolean {
  return !isHeard || fact.leftAtMs >= cameInAtMs - keepMs;
}

/**
 * How many facts about a number are kept for one asker; the ones that end first give way. A few tell
 * all there is: the date, the largest window that was `false` and the smallest that was `true`.
 */
export const MAX_FACTS_PER_NUMBER = 32;
