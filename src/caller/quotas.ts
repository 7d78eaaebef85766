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

/** Makes a counter: in memory for one process, or in a store that several share. */
export type LimiterFactory = (options: IRateLimiterOptions) => RateLimiterAbstract;

/** Counters of this process alone. */
export const inMemory: LimiterFactory = (options) => new RateLimiterMemory(options);

/** Counters that replicas share; while Redis is away each counts for itself. */
export function inRedis(storeClient: unknown): LimiterFactory {
  return (options) =>
    new RateLimiterRedis({
      ...options,
      storeClient,
      useRedisPackage: true,
      insuranceLimiter: new RateLimiterMemory(options),
    });
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
  readonly #nameKey: string | Uint8Array;

  /** @param nameKey callers and numbers are named by a hash under this key, the same in all replicas */
  constructor(
    { numbersPerHour, lookupsPerHour }: QuotaSettings,
    createLimiter: LimiterFactory,
    nameKey: string | Uint8Array,
  ) {
    this.#nameKey = nameKey;
    const limiter = (name: string, points: number): RateLimiterAbstract =>
      createLimiter({ keyPrefix: `quota-${name}`, points, duration: HOUR_SECONDS });
    this.#numbers = limiter('numbers', numbersPerHour);
    this.#lookups = limiter('lookups', lookupsPerHour);
    this.#seen = limiter('seen', Number.MAX_SAFE_INTEGER);
  }

  /**
   * Counts one lookup. `undefined` when it may be made, or else the seconds until it may.
   * Rejects when the counts cannot be had.
   */
  async count(caller: string, number: PhoneNumber): Promise<number | undefined> {
    const name = this.#nameOf(caller);
    return (await this.#countNumber(name, number)) ?? (await this.#countLookup(name));
  }

  /** A number counts once, for as long as the hour lasts in which it was first asked about. */
  async #countNumber(caller: string, number: PhoneNumber): Promise<number | undefined> {
    const name = this.#nameOf(`${caller} ${number}`);
    if ((await this.#seen.get(name)) !== null) return undefined;
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

  #nameOf(text: string): string {
    return createHmac('sha256', this.#nameKey).update(text).digest('base64url');
  }

  async #countLookup(caller: string): Promise<number | undefined> {
    const { isOver, waitSeconds } = await consume(this.#lookups, caller);
    return isOver ? waitSeconds : undefined;
  }
}

/** The library rejects with the count when it is over, and with an error when the store failed. */
async function consume(
  limiter: RateLimiterAbstract,
  name: string,
): Promise<{ readonly isOver: boolean; readonly waitSeconds: number }> {
  try {
    return { isOver: false, waitSeconds: secondsLeft(await limiter.consume(name)) };
  } catch (over) {
    if (!(over instanceof RateLimiterRes)) throw over;
    return { isOver: true, waitSeconds: secondsLeft(over) };
  }
}

function secondsLeft({ msBeforeNext }: RateLimiterRes): number {
  return Math.max(1, Math.ceil(msBeforeNext / 1000));
}
