import { MemoryCounts } from '../caller/quotas/memoryCounts.ts';
import type { HourlyCounts } from '../caller/quotas/quotas.ts';
import { SharedCounts } from '../caller/quotas/sharedCounts.ts';
import type { Clock } from '../system/clock.ts';
import type { Config } from '../config/config.ts';
import { storeChannel } from '../log/diagnostics.ts';
import { follow } from '../system/fromFiles.ts';
import { logAbout, type Log } from '../log/log.ts';
import { RedisFactCache } from '../lookups/redisFactCache.ts';
import type { OperatorSettings } from '../operator/operatorSettings.ts';
import type { Redis } from '../sharedState/redis.ts';
import { compareStateKeys } from '../sharedState/stateKeyMark.ts';
import { StateSeals } from '../sharedState/stateSeals.ts';
import { promptsOwner } from '../tokens/authorizationSettings.ts';
import type { SimSwapStores } from '../simSwaps/operatorRoute.ts';
import { keptFor, storesInMemory } from '../simSwaps/simSwaps.ts';
import { RedisConsentStore } from '../consents/redisConsentStore.ts';
import { RedisRefusals } from '../consents/redisRefusals.ts';

export interface StoreParts {
  readonly config: Pick<Config, 'sharedState' | 'consent' | 'load'>;
  readonly operators: readonly OperatorSettings[];
  readonly clock: Clock;
  readonly log: Log;
}

/** The stores of quotas, consents and kept facts: in one Redis for all replicas, or in this process. */
export interface Stores extends SimSwapStores {
  readonly counts: HourlyCounts;
  /** Absent where everything is in this process. */
  readonly redis: Pick<Redis, 'run'> | undefined;
  /** Resolves once what was claimed is given back, where it is to be. */
  close(): Promise<void>;
}

/** A Redis that is away does not delay the start: the connection is made later. */
export async function openStores(parts: StoreParts): Promise<Stores> {
  const { config, operators, clock, log } = parts;
  const { sharedState } = config;
  if (sharedState === undefined) {
    return {
      ...storesInMemory(operators, config.consent, clock, config.load.storeBytes),
      counts: new MemoryCounts(clock),
      redis: undefined,
      close: () => Promise.resolve(),
    };
  }
  // The client is large: it is loaded only with a Redis.
  const { createRedis, RedisClient } = await import('../sharedState/redisClient.ts');
  const redis = createRedis(sharedState.redis, clock, log);
  await redis.open();
  const about = { clock, log: logAbout({ setting: 'REDIS_URL' }, log) };
  const unfollow = follow(sharedState.redisFromFiles, about, (settings) => {
    void redis.renew(new RedisClient(settings, clock, log));
  });
  const stores = await sharedStores(parts, redis, new StateSeals(sharedState.stateKeys));
  return {
    ...stores,
    close() {
      unfollow();
      return stores.close();
    },
  };
}

async function sharedStores(
  { config: { consent }, operators, clock, log }: StoreParts,
  redis: Redis,
  seals: StateSeals,
): Promise<Stores> {
  const consents = new RedisConsentStore(redis, clock, {
    seals,
    doubtMs: consent.doubtMs,
    // Records of numbers are lost: all of them, or the last writes.
    onDoubt: (untilMs) => {
      storeChannel.publish({ event: 'doubt', untilMs });
      log.warn(LOST_CONSENTS, { until: new Date(untilMs).toISOString() });
    },
  });
  // No owner is prompted in the 2-legged flow.
  if (operators.some(({ flow }) => promptsOwner(flow))) {
    await Promise.all([consents.open(), compareStateKeys(redis, seals, log)]);
  }
  const counts = new SharedCounts(redis, seals, clock, log);
  return {
    counts,
    consents,
    factCache: new RedisFactCache(redis, clock, { seals, keptFor: keptFor(operators, consent) }),
    refusalsOf: (operator) => new RedisRefusals(redis, clock, { seals, operator }),
    redis,
    async close() {
      await counts.close();
      redis.close();
    },
  };
}

const LOST_CONSENTS =
  'The shared store has lost consents (it was emptied, evicts, or a replica took over without the last writes): no owner of its numbers is prompted until the doubt ends.';
