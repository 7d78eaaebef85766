import type { Environment } from '../../src/config/environment.ts';
import { freshStateKey, NO_REDIS, startRedis, type RedisServer } from '../redisServer.ts';

/** Where consents and facts lie: in the process, or in a Redis. */
export const STORES = ['memory', 'Redis'] as const;

export type StoreName = (typeof STORES)[number];

/** One Redis for the tests of a file; each service has keys of its own in it. */
export class Stores {
  #redis: RedisServer | undefined;

  async start(): Promise<void> {
    if (NO_REDIS === undefined) this.#redis = await startRedis();
    else process.stderr.write(`The tests over Redis. ${NO_REDIS}\n`);
  }

  async stop(): Promise<void> {
    await this.#redis?.kill();
  }

  /** Why the tests over a store are left out; `undefined` where they are not. */
  whyNot(store: StoreName): string | undefined {
    return store === 'Redis' ? NO_REDIS : undefined;
  }

  /** The settings of a service over a store. */
  settings(store: StoreName): Environment {
    if (store === 'memory') return {};
    return { REDIS_URL: this.#redis?.url ?? '', STATE_KEY: freshStateKey() };
  }
}
