import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { MemoryFactCache } from '../../src/lookups/factCache.ts';
import type { ConsentRecord } from '../../src/consents/consentRecord.ts';
import {
  MemoryConsentStore,
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

/** The memory of one process; it throws when it is read too often at one moment. */
class BoundedStore extends MemoryConsentStore {
  readonly #clock: TestClock;
  #momentMs = 0;
  #reads = 0;

  constructor(clock: TestClock) {
    super(clock);
    this.#clock = clock;
  }

  override read(number: PhoneNumber): Promise<Snapshot> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs !== this.#momentMs) this.#reads = 0;
    this.#momentMs = nowMs;
    this.#reads += 1;
    if (this.#reads > MAX_READS_A_MOMENT) throw new Error('A consent flow spins.');
    return super.read(number);
  }
}

/**
 * A store that replicas share: like Redis it takes time for each command, and returns copies.
 */
class SharedStore extends BoundedStore {
  override readonly isShared = true;
  readonly #sleep: (ms: number) => Promise<void>;

  constructor(clock: TestClock) {
    super(clock);
    this.#sleep = (ms) => clock.sleep(ms);
  }

  override async read(number: PhoneNumber): Promise<Snapshot> {
    await this.#sleep(COMMAND_MS);
    const snapshot = structuredClone(await super.read(number));
    await this.#sleep(COMMAND_MS);
    return snapshot;
  }

  override async write(
    number: PhoneNumber,
    version: number,
    record: ConsentRecord,
    keepMs: number,
  ): Promise<Written> {
    await this.#sleep(COMMAND_MS);
    const written = await super.write(number, version, structuredClone(record), keepMs);
    await this.#sleep(COMMAND_MS);
    return written;
  }

  override async remove(number: PhoneNumber, version: number): Promise<void> {
    await this.#sleep(COMMAND_MS);
    await super.remove(number, version);
    await this.#sleep(COMMAND_MS);
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
  const store = new SharedStore(clock);
  const latenessMs = 32 * COMMAND_MS;
  return { clock, stores: [store, store, store], factCache: factCache(clock, history), latenessMs };
}

function factCache(clock: TestClock, { keepMs }: History): MemoryFactCache {
  return new MemoryFactCache(clock, () => ({ keepMs, resultMs: RULES.resultMs }));
}
