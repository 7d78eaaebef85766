import type { HourlyCounts } from '../caller/quotas/hourlyCounts.ts';
import { MemoryCounts } from '../caller/quotas/memoryCounts.ts';
import { SharedCounts } from '../caller/quotas/sharedCounts.ts';
import type { Clock } from '../system/clock.ts';
import type { Config } from '../config/config.ts';
import { storeChannel, type StoreMessage } from '../log/diagnostics.ts';
import type { WatchFiles } from '../files/fileWatch.ts';
import { follow } from '../files/fromFiles.ts';
import type { Log } from '../log/log.ts';
import { logAbout } from '../log/logAbout.ts';
import type { ConsentSettings } from '../consents/consentSettings.ts';
import type { FactCacheSettings } from '../lookups/factCache.ts';
import { MemoryFactCache } from '../lookups/memoryFactCache.ts';
import { RedisFactCache } from '../lookups/redisFactCache.ts';
import type { OperatorSettings } from '../operator/operatorSettings.ts';
import { operatorIdentityOf } from '../operator/operatorIdentity.ts';
import type { Redis } from '../sharedState/redis.ts';
import { RenewableRedis } from '../sharedState/renewableRedis.ts';
import { StateSeals } from '../sharedState/stateSeals.ts';
import { asksOwner } from '../tokens/authorizationSettings.ts';
import type { OperatorStores } from '../simSwaps/simSwaps.ts';
import { MemoryConsentStore } from '../consents/memoryConsentStore.ts';
import { RedisConsentStore } from '../consents/redisConsentStore.ts';

/** What stores take. */
export interface StoreParts {
  readonly config: Pick<Config, 'sharedState'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Reads certificates and logins again. */
  readonly watchFiles: WatchFiles;
}

/** Where quotas, consents and kept facts lie: in one Redis for all replicas, or in this process. */
export interface Stores {
  readonly counts: HourlyCounts;
  /** Of one operator; the same number at another operator is another. */
  forOperator(operator: OperatorSettings, consent: ConsentSettings): Promise<OperatorStores>;
  /** Absent where this process keeps everything to itself. */
  readonly redis: Pick<Redis, 'run'> | undefined;
  close(): void;
}

/** A Redis that is away does not hold up the start: it is connected to when it comes. */
export async function openStores(parts: StoreParts): Promise<Stores> {
  const { sharedState } = parts.config;
  if (sharedState === undefined) return storesOfOneProcess(parts);
  // The client is large, and a process without a Redis does without it.
  const { createRedis } = await import('../sharedState/createRedis.ts');
  const { clock, log, watchFiles } = parts;
  const redis = new RenewableRedis(
    (settings) => createRedis(settings, clock, log),
    sharedState.redis,
    clock,
  );
  await redis.open();
  const about = { watchFiles, log: logAbout({ setting: 'REDIS_URL' }, log) };
  const unfollow = follow(sharedState.redisFromFiles, about, (settings) => {
    void redis.renew(settings);
  });
  const stores = sharedStores(parts, redis, new StateSeals(sharedState.stateKeys));
  return {
    ...stores,
    close() {
      unfollow();
      stores.close();
    },
  };
}

function storesOfOneProcess({ clock }: StoreParts): Stores {
  return {
    counts: new MemoryCounts(clock),
    forOperator: (operator, consent) =>
      Promise.resolve({
        consents: new MemoryConsentStore(clock),
        factCache: new MemoryFactCache(clock, keptFactsSettings(operator, consent)),
      }),
    redis: undefined,
    close: () => undefined,
  };
}

function sharedStores({ clock, log }: StoreParts, redis: Redis, seals: StateSeals): Stores {
  return {
    counts: new SharedCounts(redis, seals, clock, log),
    async forOperator(settings, consent) {
      const operator = operatorIdentityOf(settings);
      const kept = { ...keptFactsSettings(settings, consent), seals, operator };
      const factCache = new RedisFactCache(redis, clock, kept);
      switch (settings.flow) {
        case '2-legged':
          return { consents: new MemoryConsentStore(clock), factCache };
        case '3-legged': {
          const doubtMs = consent.doubtSeconds * 1000;
          const onDoubt = (untilMs: number): void => tellDoubt(log, settings.name, untilMs);
          const consents = new RedisConsentStore(redis, clock, {
            seals,
            operator,
            doubtMs,
            onDoubt,
          });
          await consents.open();
          return { consents, factCache };
        }
      }
    },
    redis,
    close: () => redis.close(),
  };
}

/** What the store knew of numbers is lost: it may be the whole of it, or its last writes. */
function tellDoubt(log: Log, operator: string, untilMs: number): void {
  const message: StoreMessage = { event: 'doubt', operator, untilMs };
  if (storeChannel.hasSubscribers) storeChannel.publish(message);
  log.warn(
    'the shared store has lost consents (it was emptied, evicts, or a replica took over without the last writes): until the doubt ends no owner of a number without a record is prompted',
    { operator, until: new Date(untilMs).toISOString() },
  );
}

function keptFactsSettings(
  { keepFactsSeconds, flow }: OperatorSettings,
  { resultSeconds }: ConsentSettings,
): FactCacheSettings {
  return {
    keepMs: keepFactsSeconds * 1000,
    resultMs: asksOwner(flow) ? resultSeconds * 1000 : 0,
  };
}
