import type { Clock } from '../system/clock.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { ConsentRecord } from './consentRecord.ts';
import type { ConsentStore, Snapshot, Written } from './consentStore.ts';

interface StoredRecord {
  readonly record: ConsentRecord;
  readonly version: number;
  readonly keepUntilMs: number;
  readonly bytes: number;
}

/** Some 50,000 consents; fewer where an operator's `auth_req_id` are long. */
const MAX_BYTES = 64 * 2 ** 20;

/** A record's place among the others, and its own fields beside their texts. */
const RECORD_BYTES = 512;

/** What is over is cleared away once in so many writes, and when there is no room, but only once in so long. */
const WRITES_BETWEEN_SWEEPS = 1000;
const MS_BETWEEN_SWEEPS = 1000;

/**
 * The consents of one process at all operators, by its monotonic clock, in about `maxBytes`: a new number finds no room
 * beyond, while the consents that live go on.
 */
export class MemoryConsentStore implements ConsentStore {
  readonly isShared: boolean = false;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  readonly #records = new Map<PhoneNumber, StoredRecord>();
  #bytes = 0;
  #lastVersion = 0;
  #writesSinceSweep = 0;
  #mayNextSweepAtMs = -Infinity;

  constructor(clock: Clock, maxBytes = MAX_BYTES) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
  }

  /** Records, the overdue ones included. */
  get size(): number {
    return this.#records.size;
  }

  read(number: PhoneNumber): Promise<Snapshot> {
    const nowMs = this.#clock.monotonicMs();
    const stored = this.#current(number, nowMs);
    const { record, version = 0 } = stored ?? {};
    return Promise.resolve({ record, version, nowMs });
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
    const next = this.#lastVersion;
    // Its texts in UTF-16, and what holds them.
    const bytes = RECORD_BYTES + 2 * JSON.stringify(record).length;
    this.#bytes += bytes - (current?.bytes ?? 0);
    this.#records.set(number, { record, version: next, keepUntilMs: nowMs + keepMs, bytes });
    return Promise.resolve({ version: next, nowMs });
  }

  remove(number: PhoneNumber, version: number): Promise<void> {
    if (this.#records.get(number)?.version === version) this.#delete(number);
    return Promise.resolve();
  }

  #current(number: PhoneNumber, nowMs: number): StoredRecord | undefined {
    const stored = this.#records.get(number);
    if (stored === undefined || stored.keepUntilMs > nowMs) return stored;
    this.#delete(number);
    return undefined;
  }

  #delete(number: PhoneNumber): void {
    this.#bytes -= this.#records.get(number)?.bytes ?? 0;
    this.#records.delete(number);
  }

  #hasRoom(nowMs: number): boolean {
    this.#writesSinceSweep += 1;
    const isDue = this.#bytes >= this.#maxBytes || this.#writesSinceSweep >= WRITES_BETWEEN_SWEEPS;
    if (isDue && nowMs >= this.#mayNextSweepAtMs) this.#sweep(nowMs);
    return this.#bytes < this.#maxBytes;
  }

  #sweep(nowMs: number): void {
    this.#writesSinceSweep = 0;
    this.#mayNextSweepAtMs = nowMs + MS_BETWEEN_SWEEPS;
    for (const number of this.#records.keys()) this.#current(number, nowMs);
  }
}
