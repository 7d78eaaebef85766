import { afterAll, beforeAll } from 'vitest';
import type { Environment } from '../../src/config/environment.ts';
import { freshStateKey, NO_REDIS, startRedis, type RedisServer } from '../support/redisServer.ts';

/** Where consents and facts lie: in the process, or in a Redis where this machine has one. */
export const STORES = ['memory', ...(NO_REDIS === undefined ? (['Redis'] as const) : [])] as const;

export type StoreName = (typeof STORES)[number];

/**
 * One Redis for the tests of a file.
 *
 * @returns the settings of a service over a store, with keys of its own in it
 */
export function useStores(): (store: StoreName) => Environment {
  let redis: RedisServer | undefined;
  beforeAll(async () => {
    if (NO_REDIS === undefined) redis = await startRedis();
    else process.stderr.write(`The tests over Redis. ${NO_REDIS}\n`);
  });
  afterAll(() => redis?.kill());
  return (store) =>
    store === 'memory' ? {} : { REDIS_URL: redis?.url ?? '', STATE_KEY: freshStateKey() };
}
