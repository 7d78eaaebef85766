import { createHash, randomInt } from 'node:crypto';
import type { PhoneNumber } from '../../domain/phoneNumber.ts';
import type { Operation } from '../../domain/question.ts';
import type { ConsentRecord } from './consentRecord.ts';
import { SharedStateLost } from '../../sharedState/sharedStateLost.ts';
import type { ConsentStore, Snapshot, Written } from './consentStore.ts';
import { OutOfMemory, type RedisConnection } from '../../sharedState/redisConnection.ts';
import { READ, REFUSE, REMOVE, WRITE } from './redisScripts.ts';
import { StateSeal } from '../../sharedState/stateSeal.ts';

/** What a shared store needs to know. */
export interface RedisConsentStoreSettings {
  /** STATE_KEY, 32 bytes. */
  readonly stateKey: Uint8Array;
  /** Whose numbers these are: the same number at another operator is another. */
  readonly operator: string;
  /** No prompt for so long after the store has lost its memory. */
  readonly doubtMs: number;
}

// What opens was sealed by us, as what it is.
// oxlint-disable typescript/no-unsafe-type-assertion

const PREFIX = 'sim-swap:';

/**
 * The consents of any number of processes, in one Redis, by Redis's clock.
 *
 * Every method rejects with {@link SharedStateLost} when Redis cannot be asked.
 */
export class RedisConsentStore implements ConsentStore {
  readonly isShared = true;
  readonly #redis: RedisConnection;
  readonly #seal: StateSeal;
  readonly #settings: RedisConsentStoreSettings;
  readonly #memoryKey: string;
  #epoch = '';

  constructor(redis: RedisConnection, settings: RedisConsentStoreSettings) {
    this.#redis = redis;
    this.#settings = settings;
    this.#seal = new StateSeal(settings.stateKey);
    this.#memoryKey = `${PREFIX}memory:${this.#seal.name(settings.operator)}`;
  }

  /** Connects, and takes note of what the store remembers, so as to see when it no longer does. */
  async open(): Promise<void> {
    await this.#redis.open();
    await this.#read('').catch(() => undefined);
  }

  async read(number: PhoneNumber): Promise<Snapshot> {
    const key = this.#recordKey(number);
    const { nowMs, version, sealed, doubtUntilMs, blank, refusedUntilMs } = await this.#read(key);
    if (version === '') {
      return {
        record: undefined,
        version: blank,
        nowMs,
        refusedUntilMs,
        ...(doubtUntilMs > nowMs ? { doubtUntilMs } : {}),
      };
    }
    const record = this.#open(sealed, key) as ConsentRecord;
    return { record, version: Number(version), nowMs, refusedUntilMs };
  }

  async write(
    number: PhoneNumber,
    version: number,
    record: ConsentRecord,
    keepMs: number,
  ): Promise<Written> {
    const key = this.#recordKey(number);
    const text = JSON.stringify(record);
    const next = versionAfter(version, text);
    const values = [version, next, this.#seal.seal(text, key), wholeMs(keepMs)];
    try {
      const written = await this.#redis.run(WRITE, [key, this.#memoryKey], values);
      return written === 'written' ? { version: next } : 'conflict';
    } catch (error) {
      if (error instanceof OutOfMemory) return 'full';
      throw error;
    }
  }

  async remove(number: PhoneNumber, version: number): Promise<void> {
    await this.#redis.run(REMOVE, [this.#recordKey(number)], [version]);
  }

  async refuse(number: PhoneNumber, operation: Operation, forMs: number): Promise<void> {
    await this.#redis
      .run(REFUSE, [this.#memoryKey], [operation, wholeMs(forMs), this.#recordKey(number)])
      .catch(lostIfOutOfMemory);
  }

  close(): void {
    this.#redis.close();
  }

  async #read(key: string) {
    const { doubtMs } = this.#settings;
    const reply = texts(
      await this.#redis
        .run(READ, [key, this.#memoryKey], [this.#epoch, newEpoch(), doubtMs])
        .catch(lostIfOutOfMemory),
    );
    const [now, epoch = '', doubt = '', version = '', sealed = '', date = '', check = ''] = reply;
    this.#epoch = epoch;
    return {
      nowMs: Number(now),
      version,
      sealed,
      doubtUntilMs: Number(doubt),
      refusedUntilMs: {
        'retrieve-date': Number(date),
        check: Number(check),
      } satisfies Record<Operation, number>,
      // A record is first written only while the store remembers what it did when it was read.
      blank: Number(epoch) + (doubt === '' ? 0 : 1),
    };
  }

  /** What lies there was sealed by us, and is what it was. */
  #open(sealed: string, place: string): unknown {
    try {
      return JSON.parse(this.#seal.open(sealed, place));
    } catch {
      throw new SharedStateLost();
    }
  }

  #recordKey(number: PhoneNumber): string {
    return `${PREFIX}consent:${this.#seal.name(this.#settings.operator, number)}`;
  }
}

/**
 * A version says what was written over what: so a write whose reply was lost can be sent once more, and
 * a record that was removed and written anew has another.
 */
function versionAfter(version: number, text: string): number {
  return createHash('sha256').update(`${version} ${text}`).digest().readUIntBE(0, 6);
}

/** Even, so that there is room for one beside it. */
function newEpoch(): number {
  return 2 * randomInt(1, 2 ** 46);
}

function wholeMs(ms: number): number {
  return Math.max(1, Math.ceil(ms));
}

function texts(reply: unknown): string[] {
  return Array.isArray(reply) ? reply.map(String) : [];
}

function lostIfOutOfMemory(error: unknown): never {
  throw error instanceof OutOfMemory ? new SharedStateLost() : error;
}
