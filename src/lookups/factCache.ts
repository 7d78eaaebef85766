import { hash } from 'node:crypto';
import type { CallerKey } from '../domain/identity.ts';
import { saysSwapped, type TimedFact, isSameFact } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Clock } from '../system/clock.ts';

/** One caller key and one number as one string of fixed length. */
export function hashedCallerKey({ caller, purpose }: CallerKey, number: PhoneNumber): string {
  return hash('sha256', JSON.stringify([number, caller.key, purpose.key]), 'base64url');
}

/** By an operator's identity; `undefined` where the operator is no longer configured. */
export type KeptFor = (operator: string) => FactCacheSettings | undefined;

export interface FactCacheSettings {
  /** KEEP_FACTS_SECONDS, in milliseconds. */
  readonly keepMs: number;
  /** CONSENT_RESULT_SECONDS, in milliseconds: for facts that were delivered to no request. */
  readonly resultMs: number;
}

/**
 * Facts that answer further requests of the same caller about the same number, from any operator: requests that came in
 * at most `keepMs` after the fact's lookup left, or `resultMs` where it was not delivered.
 *
 * Ages are taken on the monotonic clock of the process that made the lookup, and continued on the store's: no wall
 * clock is used. A shared store rejects with {@link SharedStateLost} while it is not available.
 */
export interface FactCache {
  /** Keeps a fact, or marks it as delivered for good; never prolongs it. A call that was lost may be sent again. */
  keep(callerKey: CallerKey, number: PhoneNumber, fact: TimedFact): Promise<void>;

  /** @param cameInAtMs when the request came in, on this process's monotonic clock */
  recall(callerKey: CallerKey, number: PhoneNumber, cameInAtMs: number): Promise<RecalledFacts>;
}

export interface RecalledFacts {
  /** Facts that may answer a request. */
  readonly facts: readonly TimedFact[];
  /** Facts that are too old to answer; a `false` must not ignore a change that they show. */
  readonly unrequested: readonly TimedFact[];
  /** Everything that was kept before this moment, on this process's monotonic clock, is included. */
  readonly recalledAtMs: number;
}

/** How long a fact is retained, delivered or not, for requests that waited for it in another replica. Pure. */
export function retentionMs({ toldBy }: TimedFact, keptFor: KeptFor): number {
  const { keepMs, resultMs } = keptFor(toldBy) ?? NOT_KEPT;
  return Math.max(keepMs, resultMs);
}

const NOT_KEPT: FactCacheSettings = { keepMs: 0, resultMs: 0 };

/**
 * Which retained facts answer a request. The trust in the dates of an operator that is no longer configured is unknown:
 * of its facts only a swap answers, for as long as the settings said when it was kept, and a date counts only together
 * with the facts of others. Pure.
 */
export function recalledFor(
  kept: readonly TimedFact[],
  cameInAtMs: number,
  keptFor: KeptFor,
): Pick<RecalledFacts, 'facts' | 'unrequested'> {
  const mayAnswer = (fact: TimedFact): boolean => {
    const settings = keptFor(fact.toldBy);
    if (settings === undefined && !saysSwapped(fact)) return false;
    const keepMs = settings?.keepMs ?? fact.keepMs ?? 0;
    return !fact.isHeard || fact.leftAtMs >= cameInAtMs - keepMs;
  };
  return { facts: kept.filter(mayAnswer), unrequested: kept.filter((fact) => !mayAnswer(fact)) };
}

/** The facts that end first give way. A few are enough: the date, the largest `false`, the smallest `true`. */
export const MAX_FACTS_PER_NUMBER = 32;

const MAX_BYTES = 32 * 2 ** 20;

/** The bytes of a fact and its place among the others, without the text of a date; measured, and rounded up. */
const FACT_BYTES = 512;

/** The least time between two sweeps of a full cache as a whole. */
const MS_BETWEEN_SWEEPS = 1000;

/** The facts of one process, in at most `maxBytes`: a fact for which there is no room is looked up again. */
export class MemoryFactCache implements FactCache {
  readonly #clock: Clock;
  readonly #keptFor: KeptFor;
  readonly #maxBytes: number;
  /** In the order in which they were kept; operators differ in how long facts are kept. */
  readonly #kept = new Map<string, readonly TimedFact[]>();
  #bytes = 0;
  #mayNextSweepAtMs = -Infinity;

  constructor(clock: Clock, keptFor: KeptFor, maxBytes = Infinity) {
    this.#clock = clock;
    this.#keptFor = keptFor;
    this.#maxBytes = Math.min(MAX_BYTES, maxBytes);
  }

  get bytes(): number {
    return this.#bytes;
  }

  keep(callerKey: CallerKey, number: PhoneNumber, fact: TimedFact): Promise<void> {
    const key = hashedCallerKey(callerKey, number);
    if (!this.#isLive(fact)) return Promise.resolve();
    const live = this.#live(key);
    const isHeard = fact.isHeard || live.some((one) => one.isHeard && isSameFact(one, fact));
    const kept = [...live.filter((one) => !isSameFact(one, fact)), { ...fact, isHeard }]
      .toSorted((one, other) => one.leftAtMs - other.leftAtMs)
      .slice(-MAX_FACTS_PER_NUMBER);
    const bytes = bytesOf(kept);
    const isFull = () => this.#bytes + bytes - bytesOf(this.#kept.get(key)) > this.#maxBytes;
    this.#sweep(isFull());
    if (!isFull()) this.#put(key, kept);
    return Promise.resolve();
  }

  recall(callerKey: CallerKey, number: PhoneNumber, cameInAtMs: number): Promise<RecalledFacts> {
    const live = this.#live(hashedCallerKey(callerKey, number));
    const recalledAtMs = this.#clock.monotonicMs();
    return Promise.resolve({ ...recalledFor(live, cameInAtMs, this.#keptFor), recalledAtMs });
  }

  #live(key: string): readonly TimedFact[] {
    return (this.#kept.get(key) ?? []).filter((fact) => this.#isLive(fact));
  }

  #isLive(fact: TimedFact): boolean {
    return fact.leftAtMs + retentionMs(fact, this.#keptFor) >= this.#clock.monotonicMs();
  }

  /**
   * Removes expired facts: up to the first that is still valid, or all of them when there is no room, once a second.
   */
  #sweep(isFull: boolean): void {
    const nowMs = this.#clock.monotonicMs();
    const isWhole = isFull && nowMs >= this.#mayNextSweepAtMs;
    if (isWhole) this.#mayNextSweepAtMs = nowMs + MS_BETWEEN_SWEEPS;
    for (const key of this.#kept.keys()) {
      const live = this.#live(key);
      if (live.length > 0 && !isWhole) return;
      if (live.length === 0) this.#put(key, live);
    }
  }

  #put(key: string, kept: readonly TimedFact[]): void {
    this.#bytes += bytesOf(kept) - bytesOf(this.#kept.get(key));
    this.#kept.delete(key);
    if (kept.length > 0) this.#kept.set(key, kept);
  }
}

function bytesOf(kept: readonly TimedFact[] = []): number {
  let bytes = 0;
  for (const fact of kept) {
    const date = fact.operation === 'retrieve-date' ? fact.latestSimChange : null;
    bytes += FACT_BYTES + 2 * (date?.text.length ?? 0);
  }
  return bytes;
}
