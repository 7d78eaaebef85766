import { createHmac } from 'node:crypto';
import {
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
  type IRateLimiterOptions,
  type RateLimiterAbstract,
} from 'rate-limiter-flexible';
import type { PhoneNumber } from '../domain/phoneNumber.ts';

/** How much one caller may ask in an hour. */
export interface QuotaSettings {
  readonly numbersPerHour: number;
  readonly lookupsPerHour: number;
}

/** Where counters are: in memory for one process, or in a store that several share. */
export interface QuotaStore {
  createLimiter(options: IRateLimiterOptions): RateLimiterAbstract;
  /** What stands there for a caller, or for a caller and a number. */
  nameOf(text: string): string;
}

/** Counters of this process alone: nobody else reads the names. */
export const inMemory: QuotaStore = {
  createLimiter: (options) => new RateLimiterMemory(options),
  nameOf: (text) => text,
};

/**
 * Counters that replicas share; while Redis is away each counts for itself.
 *
 * @param nameKey callers and numbers are named by a hash under this key, the same in all replicas
 */
export function inRedis(storeClient: unknown, nameKey: string | Uint8Array): QuotaStore {
  return {
    createLimiter: (options) =>
      new RateLimiterRedis({
        ...options,
        storeClient,
        useRedisPackage: true,
        insuranceLimiter: new RateLimiterMemory(options),
      }),
    nameOf: (text) => createHmac('sha256', nameKey).update(text).digest('base64url'),
  };
}

const HOUR_SECONDS = 3600;

/**
 * Counts distinct numbers and lookups per caller, each in an hour that starts with the first of them.
 * A caller that scans comes to an end, however many processes it asks.
 */
export class Quotas {
  readonly #numbers: RateLimiterAbstract;
  readonly #lookups: RateLimiterAbstract;
  /** Which numbers count already. */
  readonly #seen: RateLimiterAbstract;
  readonly #store: QuotaStore;

  constructor({ numbersPerHour, lookupsPerHour }: QuotaSettings, store: QuotaStore) {
    this.#store = store;
    const limiter = (name: string, points: number): RateLimiterAbstract =>
      store.createLimiter({ keyPrefix: `quota-${name}`, points, duration: HOUR_SECONDS });
    this.#numbers = limiter('numbers', numbersPerHour);
    this.#lookups = limiter('lookups', lookupsPerHour);
    this.#seen = limiter('seen', Number.MAX_SAFE_INTEGER);
  }

  /**
   * Counts one lookup. `undefined` when it may be made, or else the seconds until it may.
   * Rejects when the counts cannot be had.
   */
  async count(caller: string, number: PhoneNumber): Promise<number | undefined> {
    const wait = await this.countNumber(caller, number);
    if (wait !== undefined) return wait;
    const { isOver, waitSeconds } = await consume(this.#lookups, this.#store.nameOf(caller));
    return isOver ? waitSeconds : undefined;
  }

  /** Counts a number that is asked about without a lookup. As {@link count}. */
  async countNumber(caller: string, number: PhoneNumber): Promise<number | undefined> {
    const name = this.#store.nameOf(`${caller} ${number}`);
    return (await this.#seen.get(name)) === null
      ? this.#countNumber(this.#store.nameOf(caller), name)
      : undefined;
  }

  /** A number counts once, for as long as the hour lasts in which it was first asked about. */
  async #countNumber(caller: string, name: string): Promise<number | undefined> {
    const counted = await consume(this.#numbers, caller);
    // Somebody else may have counted this very number meanwhile.
    if (counted.isOver) {
      return (await this.#seen.get(name)) === null ? counted.waitSeconds : undefined;
    }
    // Rounded down: forgotten early, a number counts twice, but never too seldom.
    const customDuration = Math.max(1, counted.waitSeconds - 1);
    const { isFirstInDuration } = await this.#seen.consume(name, 1, { customDuration });
    if (!isFirstInDuration) await this.#numbers.reward(caller);
    return undefined;
  }
}

/** The library rejects with the count when it is over, and with an error when the store failed. */
function consume(limiter: RateLimiterAbstract, name: string): Promise<Consumed> {
  return limiter.consume(name).then(
    (counted) => ({ isOver: false, waitSeconds: secondsLeft(counted) }),
    (over: unknown) => {
      if (!(over instanceof RateLimiterRes)) throw over;
      return { isOver: true, waitSeconds: secondsLeft(over) };
    },
  );
}

interface Consumed {
  readonly isOver: boolean;
  readonly waitSeconds: number;
}

function secondsLeft({ msBeforeNext }: RateLimiterRes): number {
  return Math.max(1, Math.ceil(msBeforeNext / 1000));
}
