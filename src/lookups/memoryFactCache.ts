import type { Clock } from '../system/clock.ts';
import type { CallerKey } from '../domain/identity.ts';
import { isSameFact, type TimedFact } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import {
  hashedCallerKey,
  MAX_FACTS_PER_NUMBER,
  recalledFor,
  retentionMs,
  type FactCache,
  type KeptFor,
  type RecalledFacts,
} from './factCache.ts';

/** Some 60,000 facts. */
const MAX_BYTES = 32 * 2 ** 20;

/** A fact and its place among the others, beside the text of a date; measured, and rounded up. */
const FACT_BYTES = 512;

/** A full cache looks through all that it has once in so long. */
const MS_BETWEEN_SWEEPS = 1000;

/**
 * The facts of one process, by its monotonic clock, in no more than `maxBytes`. When these are full a
 * new fact is not kept, and is looked up again; those that are kept stay.
 */
export class MemoryFactCache implements FactCache {
  readonly #clock: Clock;
  readonly #keptFor: KeptFor;
  readonly #maxBytes: number;
  /** In the order in which they were kept; operators differ in for how long. */
  readonly #kept = new Map<string, readonly TimedFact[]>();
  #bytes = 0;
  #mayNextSweepAtMs = -Infinity;

  constructor(clock: Clock, keptFor: KeptFor, maxBytes = MAX_BYTES) {
    this.#clock = clock;
    this.#keptFor = keptFor;
    this.#maxBytes = maxBytes;
  }

  /** What is held, facts included whose time is over since the last one was kept. */
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
    const isFull = () =>
      this.#bytes + bytesOf(kept) - bytesOf(this.#kept.get(key)) > this.#maxBytes;
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

  /** Clears away what is over: up to the first that is not, or all of it when there is no room, once a second. */
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

  /** Puts the facts last. */
  #put(key: string, kept: readonly TimedFact[]): void {
    this.#bytes += bytesOf(kept) - bytesOf(this.#kept.get(key));
    this.#kept.delete(key);
    if (kept.length > 0) this.#kept.set(key, kept);
  }
}

function bytesOf(kept: readonly TimedFact[] = []): number {
  return kept.reduce((sum, fact) => sum + FACT_BYTES + textBytesOf(fact), 0);
}

function textBytesOf(fact: TimedFact): number {
  switch (fact.operation) {
    case 'retrieve-date':
      return 2 * (fact.latestSimChange?.text.length ?? 0);
    case 'check':
      return 0;
  }
}
