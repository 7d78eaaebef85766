import { randomInt } from 'node:crypto';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Operation } from '../domain/question.ts';
import type { Clock } from '../system/clock.ts';
import type { ConsentRecord } from './consentRecord.ts';

/** The record at one moment of the store's clock; its times count only by that clock. */
export interface Snapshot {
  readonly record: ConsentRecord | undefined;
  readonly nowMs: number;
  /** The store has lost writes: until then a prompt may be live, or an answer may have been given, without a record. */
  readonly doubtUntilMs?: number | undefined;
  /** Changes with every write. */
  readonly version: number;
}

/** The version and time of the store's reply; otherwise another writer was first, or there is no room. */
export type Written = Pick<Snapshot, 'version' | 'nowMs'> | 'conflict' | 'full';

/**
 * Every change is a compare-and-set, so that any number of processes may share one store. Methods of a shared one reject
 * with {@link SharedStateLost} while it is not available.
 */
export interface ConsentStore {
  /** Whether the store is shared, and so may lose what this process knows. */
  readonly isShared: boolean;

  read(number: PhoneNumber): Promise<Snapshot>;

  /**
   * Writes if the record is still that of `version`; keeps it for `keepMs`. Live records never give way.
   *
   * @param writeId of {@link newWriteId}: a write that was lost may be sent again with it, and succeeds where it was
   * carried out
   */
  write(
    number: PhoneNumber,
    version: number,
    record: ConsentRecord,
    keepMs: number,
    writeId?: number,
  ): Promise<Written>;

  /** Removes the record if it is still that of `version`. */
  remove(number: PhoneNumber, version: number): Promise<void>;
}

/** Two processes that write the same record have different ids: only one of them is first. */
export function newWriteId(): number {
  return randomInt(1, 2 ** 47);
}

/** A time in milliseconds for each operation. */
export type ByOperation = Readonly<Record<Operation, number>>;

/**
 * The operations that an operator refuses us, whatever the number: no owner is prompted for them meanwhile. Shared ones
 * reject with {@link SharedStateLost} while they are not available.
 */
export interface OperatorRefusals {
  /** 0 where an operation is not refused. */
  leftMs(): Promise<ByOperation>;

  /**
   * Notes that a lookup about this number was refused. Once `afterNumbers` numbers were refused, each within `forMs` of
   * the one before, no owner is prompted for the operation for `forMs`: a single refused number bars no other caller.
   */
  refuse(
    number: PhoneNumber,
    operation: Operation,
    afterNumbers: number,
    forMs: number,
  ): Promise<void>;

  /** After an answered lookup, the numbers that were refused before it no longer count. */
  answered(operation: Operation): Promise<void>;
}

interface StoredRecord {
  readonly record: ConsentRecord;
  readonly version: number;
  readonly keepUntilMs: number;
  readonly bytes: number;
}

/** Some 50,000 consents; fewer where an operator's `auth_req_id` and tokens are long. */
const MAX_BYTES = 64 * 2 ** 20;

/** The bytes of a record's place among the others, and of its own fields without their texts. */
const RECORD_BYTES = 512;

/** Expired records are swept after this many writes, and where there is no room, at most once in this time. */
const WRITES_BETWEEN_SWEEPS = 1000;
const MS_BETWEEN_SWEEPS = 1000;

/** The consents of one process, in about `maxBytes`: beyond it new numbers have no room, and live consents continue. */
export class MemoryConsentStore implements ConsentStore {
  readonly isShared: boolean = false;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  readonly #records = new Map<PhoneNumber, StoredRecord>();
  #bytes = 0;
  /** Each prompt may bring a token as long as the longest one, less 1 % for each that has come since. */
  #tokenLength = 0;
  #lastVersion = 0;
  #writesSinceSweep = 0;
  #mayNextSweepAtMs = -Infinity;

  constructor(clock: Clock, maxBytes = Infinity) {
    this.#clock = clock;
    this.#maxBytes = Math.min(MAX_BYTES, maxBytes);
  }

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
    const before = this.#records.get(number);
    const isStored = before !== undefined && before.keepUntilMs > nowMs;
    if ((isStored ? before.version : 0) !== version) return Promise.resolve('conflict');
    if (!isStored && !this.#hasRoom(nowMs)) return Promise.resolve('full');
    const next = (this.#lastVersion += 1);
    // Its texts in UTF-16, and the objects around them.
    const bytes = RECORD_BYTES + 2 * JSON.stringify(record).length + this.#tokenBytes(record);
    this.#bytes += bytes - (this.#records.get(number)?.bytes ?? 0);
    this.#records.set(number, { record, version: next, keepUntilMs: nowMs + keepMs, bytes });
    return Promise.resolve({ version: next, nowMs });
  }

  remove(number: PhoneNumber, version: number): Promise<void> {
    if (this.#records.get(number)?.version === version) this.#delete(number);
    return Promise.resolve();
  }

  #tokenBytes({ consent }: ConsentRecord): number {
    switch (consent?.state) {
      case 'requested':
      case 'pending':
        // A byte for each character, since a token is ASCII.
        return this.#tokenLength;
      case 'granted':
        this.#tokenLength = Math.max(Math.floor(0.99 * this.#tokenLength), consent.token.length);
        return 0;
      case 'redeemed':
      case 'closed':
      case undefined:
        return 0;
    }
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

  /** Whether there is room for a new number. Sweeps where that is due. */
  #hasRoom(nowMs: number): boolean {
    this.#writesSinceSweep += 1;
    const isDue = this.#bytes >= this.#maxBytes || this.#writesSinceSweep >= WRITES_BETWEEN_SWEEPS;
    if (isDue && nowMs >= this.#mayNextSweepAtMs) {
      this.#writesSinceSweep = 0;
      this.#mayNextSweepAtMs = nowMs + MS_BETWEEN_SWEEPS;
      for (const number of this.#records.keys()) this.#current(number, nowMs);
    }
    return this.#bytes < this.#maxBytes;
  }
}

/** How long each operation is still refused. */
export function leftOf(untilMs: ByOperation, nowMs: number): ByOperation {
  const { 'retrieve-date': date, check } = untilMs;
  return { 'retrieve-date': Math.max(0, date - nowMs), check: Math.max(0, check - nowMs) };
}

export class MemoryRefusals implements OperatorRefusals {
  readonly #clock: Clock;
  readonly #refusedUntilMs = { 'retrieve-date': 0, check: 0 };
  /** The refused numbers by operation, each with its `afterNumbers`, and until when they count. */
  readonly #refused: Partial<Record<Operation, { noted: Set<string>; untilMs: number }>> = {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  leftMs(): Promise<ByOperation> {
    return Promise.resolve(leftOf(this.#refusedUntilMs, this.#clock.monotonicMs()));
  }

  refuse(
    number: PhoneNumber,
    operation: Operation,
    afterNumbers: number,
    forMs: number,
  ): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    const untilMs = nowMs + forMs;
    const before = this.#refused[operation];
    const isOver = before === undefined || before.untilMs <= nowMs;
    const kind = `${afterNumbers}:`;
    const noted = new Set(isOver ? [] : before.noted).add(kind + number);
    const isBarred = [...noted].filter((one) => one.startsWith(kind)).length >= afterNumbers;
    if (isBarred) this.#refusedUntilMs[operation] = untilMs;
    this.#refused[operation] = { noted: isBarred ? new Set([kind + number]) : noted, untilMs };
    return Promise.resolve();
  }

  answered(operation: Operation): Promise<void> {
    delete this.#refused[operation];
    return Promise.resolve();
  }
}
