import { randomInt } from 'node:crypto';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import {
  bucketOfNumber,
  BUCKETS,
  keyIn,
  OutOfMemory,
  SharedStateLost,
  texts,
  type Redis,
} from '../sharedState/redis.ts';
import { newWriteId, type ConsentStore, type Snapshot, type Written } from './consentStore.ts';
import type { Clock } from '../system/clock.ts';
import type { ConsentRecord } from './consentRecord.ts';
import { READ, REMOVE, WRITE } from './redisScripts.ts';
import type { StateSeal, StateSeals } from '../sharedState/stateSeals.ts';

export interface RedisConsentStoreSettings {
  readonly seals: StateSeals;
  /** How long no prompt follows after the store has lost its memory. */
  readonly doubtMs: number;
  /** Called when a doubt begins or is found, with its end in milliseconds since 1970. */
  readonly onDoubt?: (untilMs: number) => void;
}

/** Doubts that end this close to each other are one: empty buckets are found one after the other. */
const ONE_DOUBT_MS = 2000;

// Only values that we sealed open, so the types are right.
// oxlint-disable typescript/no-unsafe-type-assertion

/** For reading only a bucket's memory. */
const NO_NUMBER = '-';

interface Place {
  readonly bucket: number;
  readonly recordOf: (seal: StateSeal) => string;
  /** Record and memory of the bucket, under the current seal and then under the others. */
  readonly keys: readonly string[];
}

/**
 * The consents of any number of processes, by the clock of Redis, or of the master that holds the record. Each bucket
 * has its own memory: a master that has lost its data casts doubt only on the numbers that it holds.
 */
export class RedisConsentStore implements ConsentStore {
  readonly isShared = true;
  readonly #redis: Redis;
  readonly #clock: Clock;
  readonly #settings: RedisConsentStoreSettings;
  /** The names of a bucket's memory, under each seal; the same in all buckets. */
  readonly #memoryNames: readonly (readonly [StateSeal, string])[];
  readonly #epochs: string[] = Array.from({ length: BUCKETS }, () => '');
  /** How many writes each bucket is known to have had in its epoch. */
  readonly #writes: number[] = Array.from({ length: BUCKETS }, () => 0);
  /** The latest doubt that is known, by our own clock. */
  #doubtUntilMs = 0;

  constructor(redis: Redis, clock: Clock, settings: RedisConsentStoreSettings) {
    this.#redis = redis;
    this.#clock = clock;
    this.#settings = settings;
    this.#memoryNames = settings.seals.all.map((seal) => [seal, seal.name('memory')]);
  }

  /** Connects, and reads the memory of each bucket, so that a later loss is noticed. */
  async open(): Promise<void> {
    // If possible, before a process that cannot notice the loss reads there.
    this.#redis.onBack(() => void this.#lookAtAll());
    await this.#redis.open();
    await this.#lookAtAll();
  }

  async read(number: PhoneNumber): Promise<Snapshot> {
    const place = this.#placeOf(number);
    const { isForgotten, nowMs, version, sealed, blank, ...read } = await this.#read(place);
    if (isForgotten) await this.#lookAtAll(this.#serverOf(place));
    const doubtUntilMs = read.doubtUntilMs > nowMs ? read.doubtUntilMs : undefined;
    if (version !== '') {
      const record = this.#settings.seals.openJson(sealed, place.recordOf);
      if (record === undefined) throw new SharedStateLost();
      return { record: record as ConsentRecord, version: Number(version), nowMs, doubtUntilMs };
    }
    return { record: undefined, version: blank, nowMs, doubtUntilMs };
  }

  async write(
    number: PhoneNumber,
    version: number,
    record: ConsentRecord,
    keepMs: number,
    writeId = newWriteId(),
  ): Promise<Written> {
    const place = this.#placeOf(number);
    const { current } = this.#settings.seals;
    const sealed = current.seal(JSON.stringify(record), place.recordOf(current));
    const { bucket } = place;
    const epoch = this.#epochs[bucket] ?? '';
    const known = [epoch, this.#writes[bucket] ?? 0, this.#settings.doubtMs];
    const values = [...known, version, writeId, sealed, Math.max(1, Math.ceil(keepMs))];
    try {
      const reply = texts(await this.#redis.run(WRITE, place.keys, values));
      const [written, nowMs, writes, behind] = reply;
      if (written === 'written' && this.#epochs[bucket] === epoch)
        this.#knowOf(bucket, Number(writes));
      if (behind === 'behind') await this.#lookAtAll(this.#serverOf(place));
      return written === 'written' ? { version: writeId, nowMs: Number(nowMs) } : 'conflict';
    } catch (error) {
      if (error instanceof OutOfMemory) return 'full';
      throw error;
    }
  }

  async remove(number: PhoneNumber, version: number): Promise<void> {
    await this.#redis.run(REMOVE, this.#placeOf(number).keys, [version]);
  }

  close(): void {
    this.#redis.close();
  }

  /** Reads all memories: a server that has lost one has lost others, and a new process must find their doubt. */
  async #lookAtAll(server?: string): Promise<void> {
    const places = Array.from(this.#epochs, (_, bucket) => this.#placeIn(bucket, NO_NUMBER));
    const there = places.filter((one) => server === undefined || this.#serverOf(one) === server);
    await Promise.all(there.map((place) => this.#read(place).catch(() => undefined)));
  }

  #serverOf({ keys: [record = ''] }: Place): string {
    return this.#redis.serverOf(record);
  }

  #knowOf(bucket: number, writes: number): void {
    this.#writes[bucket] = Math.max(this.#writes[bucket] ?? 0, writes);
  }

  async #read({ bucket, keys }: Place) {
    const { doubtMs } = this.#settings;
    const known = this.#epochs[bucket] ?? '';
    // Even, so that there is room for one more.
    const newEpoch = 2 * randomInt(1, 2 ** 46);
    const values = [known, this.#writes[bucket] ?? 0, doubtMs, newEpoch];
    const reply = texts(await this.#redis.run(READ, keys, values));
    const [now, epoch = '', doubt = '', version = '', sealed = ''] = reply;
    const [writes, behind, removals] = reply.slice(5);
    if (this.#epochs[bucket] !== epoch) this.#writes[bucket] = 0;
    this.#epochs[bucket] = epoch;
    this.#knowOf(bucket, Number(writes));
    this.#reportDoubt(Number(doubt) - Number(now));
    return {
      nowMs: Number(now),
      version,
      sealed,
      doubtUntilMs: Number(doubt),
      isForgotten: (known !== '' && known !== epoch) || behind === 'behind',
      // A new record is written only while the store remembers what it did when the record was read.
      blank: Number(epoch) + 2 * Number(removals) + (doubt === '' ? 0 : 1),
    };
  }

  #reportDoubt(leftMs: number): void {
    const untilMs = this.#clock.nowMs() + leftMs;
    if (leftMs <= 0 || untilMs < this.#doubtUntilMs + ONE_DOUBT_MS) return;
    this.#doubtUntilMs = untilMs;
    this.#settings.onDoubt?.(untilMs);
  }

  #placeOf(number: PhoneNumber): Place {
    return this.#placeIn(bucketOfNumber(number), number);
  }

  #placeIn(bucket: number, number: string): Place {
    const recordOf = (seal: StateSeal) => keyIn(bucket, 'consent-2', seal.name('consent', number));
    const keys = this.#memoryNames.flatMap(([seal, name]) => [
      recordOf(seal),
      keyIn(bucket, 'memory-2', name),
    ]);
    return { bucket, recordOf, keys };
  }
}
