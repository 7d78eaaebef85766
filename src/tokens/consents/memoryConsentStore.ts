import type { Clock } from '../../clock.ts';
import type { PhoneNumber } from '../../domain/phoneNumber.ts';
import type { Operation } from '../../domain/question.ts';
import type { ConsentRecord } from './consentRecord.ts';
import type { ConsentStore, Snapshot, Written } from './consentStore.ts';

interface StoredRecord {
  readonly record: ConsentRecord;
  readonly version: number;
  readonly keepUntilMs: number;
}

const DEFAULT_CAPACITY = 100_000;

/** What is over is cleared away once in so many writes. */
const WRITES_BETWEEN_SWEEPS = 1000;

/** The consents of one process, by its monotonic clock. */
export class MemoryConsentStore implements ConsentStore {
  readonly isShared: boolean = false;
  readonly #clock: Clock;
  readonly #capacity: number;
  readonly #records = new Map<PhoneNumber, StoredRecord>();
  readonly #refusedUntilMs: Partial<Record<Operation, number>> = {};
  #lastVersion = 0;
  #writesSinceSweep = 0;

  constructor(clock: Clock, capacity = DEFAULT_CAPACITY) {
    this.#clock = clock;
    this.#capacity = capacity;
  }

  /** Records, the overdue ones included. */
  get size(): number {
    return this.#records.size;
  }

  read(number: PhoneNumber): Promise<Snapshot> {
    const nowMs = this.#clock.monotonicMs();
    const stored = this.#current(number, nowMs);
    return Promise.resolve({
      record: stored?.record,
      version: stored?.version ?? 0,
      nowMs,
      refusedUntilMs: { ...this.#refusedUntilMs },
    });
  }

  write(
    number: PhoneNumber,
    version: number,
    record: ConsentRecord,
    keepMs: number,
  ): Promise<Written> {
    const nowMs = this.#clock.monotonicMs();
    const current = this.#current(number, nowMs);
    if ((current?.version ?? 0) !== version) return Promise.resolve('conflict');
    if (current === undefined && !this.#hasRoom(nowMs)) return Promise.resolve('full');
    this.#lastVersion += 1;
    const stored = { record, version: this.#lastVersion, keepUntilMs: nowMs + keepMs };
    this.#records.set(number, stored);
    return Promise.resolve({ version: stored.version });
  }

  remove(number: PhoneNumber, version: number): Promise<void> {
    if (this.#records.get(number)?.version === version) this.#records.delete(number);
    return Promise.resolve();
  }

  refuse(operation: Operation, forMs: number): Promise<void> {
    this.#refusedUntilMs[operation] = this.#clock.monotonicMs() + forMs;
    return Promise.resolve();
  }

  #current(number: PhoneNumber, nowMs: number): StoredRecord | undefined {
    const stored = this.#records.get(number);
    if (stored === undefined || stored.keepUntilMs > nowMs) return stored;
    this.#records.delete(number);
    return undefined;
  }

  #hasRoom(nowMs: number): boolean {
    this.#writesSinceSweep += 1;
    if (this.size >= this.#capacity || this.#writesSinceSweep >= WRITES_BETWEEN_SWEEPS) {
      this.#sweep(nowMs);
    }
    return this.size < this.#capacity;
  }

  #sweep(nowMs: number): void {
    this.#writesSinceSweep = 0;
    for (const number of this.#records.keys()) this.#current(number, nowMs);
  }
}
