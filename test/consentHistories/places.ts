import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import {
  MemoryFactCache,
  type FactCache,
  type RecalledFacts,
} from '../../src/lookups/factCache.ts';
import type { ConsentRecord } from '../../src/consents/consentRecord.ts';
import {
  MemoryConsentStore,
  type ConsentStore,
  type Snapshot,
  type Written,
} from '../../src/consents/consentStore.ts';
import { TestClock } from '../support/testClock.ts';
import type { History } from './history.ts';
import { RULES } from '../lookups/askedConsents.ts';
import type { Place } from './runHistory.ts';

/** A consent flow that spins reads again and again while no time passes. */
const MAX_READS_A_MOMENT = 500;

/** How long a command to a shared store takes each way. */
const COMMAND_MS = 1;

/** Throws where a store is read too often at one moment. */
class Moments {
  readonly #clock: TestClock;
  #momentMs = 0;
  #reads = 0;

  constructor(clock: TestClock) {
    this.#clock = clock;
  }

  read(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs !== this.#momentMs) this.#reads = 0;
    this.#momentMs = nowMs;
    this.#reads += 1;
    if (this.#reads > MAX_READS_A_MOMENT) throw new Error('A consent flow spins.');
  }
}

/** The memory of one process. */
class BoundedStore extends MemoryConsentStore {
  readonly #moments: Moments;

  constructor(clock: TestClock) {
    super(clock);
    this.#moments = new Moments(clock);
  }

  override read(number: PhoneNumber): Promise<Snapshot> {
    this.#moments.read();
    return super.read(number);
  }
}

interface Stored {
  readonly record: ConsentRecord;
  readonly version: number;
  readonly keepUntilMs: number;
}

/**
 * A store of one number that replicas share: like Redis it takes time for each command, returns copies, and may go back to
 * what it had saved, which is noticed at once.
 */
class SharedStore implements ConsentStore {
  readonly isShared = true;
  readonly #clock: TestClock;
  readonly #moments: Moments;
  #stored: Stored | undefined;
  #saved: Stored | undefined;
  #doubtUntilMs: number | undefined;
  #lastVersion = 0;
  /** Of no record, as of its latest removal or loss. */
  #blank = 0;

  constructor(clock: TestClock) {
    this.#clock = clock;
    this.#moments = new Moments(clock);
  }

  save(): void {
    this.#saved = this.#stored;
  }

  goBack(): void {
    this.#stored = this.#saved;
    this.#blank -= 1;
    this.#doubtUntilMs = this.#nowMs + RULES.doubtMs;
  }

  async read(): Promise<Snapshot> {
    await this.#clock.sleep(COMMAND_MS);
    this.#moments.read();
    const { record, version = this.#blank } = this.#current ?? {};
    const nowMs = this.#nowMs;
    const doubt = this.#doubtUntilMs ?? 0;
    const doubtUntilMs = doubt > nowMs ? doubt : undefined;
    await this.#clock.sleep(COMMAND_MS);
    return { record: structuredClone(record), version, nowMs, doubtUntilMs };
  }

  async write(
    _number: PhoneNumber,
    version: number,
    record: ConsentRecord,
    keepMs: number,
  ): Promise<Written> {
    await this.#clock.sleep(COMMAND_MS);
    const nowMs = this.#nowMs;
    const isOver = (this.#current?.version ?? this.#blank) === version;
    if (isOver) {
      this.#lastVersion += 1;
      const keepUntilMs = nowMs + keepMs;
      const next = { record: structuredClone(record), version: this.#lastVersion, keepUntilMs };
      this.#stored = next;
    }
    const written = isOver ? { version: this.#lastVersion, nowMs } : 'conflict';
    await this.#clock.sleep(COMMAND_MS);
    return written;
  }

  async remove(_number: PhoneNumber, version: number): Promise<void> {
    await this.#clock.sleep(COMMAND_MS);
    if (this.#stored?.version === version) {
      this.#stored = undefined;
      this.#blank -= 1;
    }
    await this.#clock.sleep(COMMAND_MS);
  }

  get #current(): Stored | undefined {
    const stored = this.#stored;
    return stored !== undefined && stored.keepUntilMs > this.#nowMs ? stored : undefined;
  }

  get #nowMs(): number {
    return this.#clock.monotonicMs();
  }
}

/** Facts that are lost with what the store had written since it was saved, and those from before with them. */
class SharedFacts implements FactCache {
  readonly #make: () => MemoryFactCache;
  #facts: MemoryFactCache;

  constructor(make: () => MemoryFactCache) {
    this.#make = make;
    this.#facts = make();
  }

  forget(): void {
    this.#facts = this.#make();
  }

  keep(...kept: Parameters<FactCache['keep']>): Promise<void> {
    return this.#facts.keep(...kept);
  }

  recall(...recalled: Parameters<FactCache['recall']>): Promise<RecalledFacts> {
    return this.#facts.recall(...recalled);
  }
}

/** The store of a single process. */
export function inMemory(history: History): Place {
  const clock = new TestClock();
  const stores = [new BoundedStore(clock)];
  return { clock, stores, factCache: factCache(clock, history), latenessMs: 0 };
}

/**
 * Three replicas on one store. However short its patience, a request gets what is in the record, and an expiry may be
 * marked as reported: four commands for each lookup of its questions, at each of two operators.
 */
export function inReplicas(history: History): Place {
  const clock = new TestClock();
  const latenessMs = 32 * COMMAND_MS;
  const facts = new SharedFacts(() => factCache(clock, history));
  const goBack = (): void => {
    store.goBack();
    facts.forget();
  };
  const store = new SharedStore(clock);
  const snapshot = { save: () => store.save(), goBack };
  return { clock, stores: [store, store, store], factCache: facts, latenessMs, snapshot };
}

function factCache(clock: TestClock, { keepMs }: History): MemoryFactCache {
  return new MemoryFactCache(clock, () => ({ keepMs, resultMs: RULES.resultMs }));
}
