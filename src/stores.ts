import type { HourlyCounts } from './caller/quotas/hourlyCounts.ts';
import { MemoryCounts } from './caller/quotas/memoryCounts.ts';
import { SharedCounts } from './caller/quotas/sharedCounts.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Log } from './log.ts';
import type { ConsentSettings } from './lookups/consentSettings.ts';
import type { KeptFactsSettings } from './lookups/keptFacts.ts';
import { MemoryKeptFacts } from './lookups/memoryKeptFacts.ts';
import { RedisKeptFacts } from './lookups/redisKeptFacts.ts';
import type { OperatorSettings } from './operator/operatorSettings.ts';
import { storeNameOf } from './operator/storeName.ts';
import { createRedis } from './sharedState/createRedis.ts';
import type { Redis } from './sharedState/redis.ts';
import { StateSeals, type StateKeys } from './sharedState/stateSeals.ts';
import { asksOwner } from './tokens/authorizationSettings.ts';
import type { OperatorStores } from './simSwaps.ts';
import { MemoryConsentStore } from './tokens/consents/memoryConsentStore.ts';
import { RedisConsentStore } from './tokens/consents/redisConsentStore.ts';

/** What stores take. */
export interface StoreParts {
  readonly config: Pick<Config, 'sharedState'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Where quotas, consents and kept facts lie: in one Redis for all replicas, or in this process. */
export interface Stores {
  readonly counts: HourlyCounts;
  /** Of one operator; the same number at another operator is another. What is kept outlives other settings. */
  forOperator(operator: OperatorSettings, consent: ConsentSettings): Promise<OperatorStores>;
  /** Forgets in this process what is known of all other operators, which are asked no more. */
  keepOnly(operators: readonly OperatorSettings[], consent: ConsentSettings): void;
  /** Seals what is kept with these keys from now on. */
  renewKeys(keys: StateKeys): void;
  /** Absent where this process keeps everything to itself. */
  readonly redis: Pick<Redis, 'run'> | undefined;
  close(): void;
}

/** A Redis that is away does not hold up the start: it is connected to when it comes. */
export async function openStores(parts: StoreParts): Promise<Stores> {
  const { sharedState } = parts.config;
  if (sharedState === undefined) return storesOfOneProcess(parts);
  const redis = createRedis(sharedState.redis, parts.clock, parts.log);
  await redis.open();
  return sharedStores(parts, redis, new StateSeals(sharedState.stateKeys));
}

/** Makes the stores of an operator that is not known yet. */
type OpenOperatorStores = (
  operator: OperatorSettings,
  consent: ConsentSettings,
) => Promise<OperatorStores>;

function storesOfOneProcess({ clock }: StoreParts): Stores {
  return {
    counts: new MemoryCounts(clock),
    ...storesByOperator(storeNameOf, (operator, consent) =>
      Promise.resolve({
        consents: new MemoryConsentStore(clock),
        keptFacts: new MemoryKeptFacts(clock, keptFactsSettings(operator, consent)),
      }),
    ),
    renewKeys: () => undefined,
    redis: undefined,
    close: () => undefined,
  };
}

function sharedStores({ clock, log }: StoreParts, redis: Redis, seals: StateSeals): Stores {
  return {
    counts: new SharedCounts(redis, seals, clock, log),
    ...storesByOperator(nameOfSharedStores, async (settings, consent) => {
      const operator = storeNameOf(settings);
      const kept = { ...keptFactsSettings(settings, consent), seals, operator };
      const keptFacts = new RedisKeptFacts(redis, clock, kept);
      switch (settings.flow) {
        case '2-legged':
          return { consents: new MemoryConsentStore(clock), keptFacts };
        case '3-legged': {
          const doubtMs = consent.doubtSeconds * 1000;
          const consents = new RedisConsentStore(redis, clock, { seals, operator, doubtMs });
          await consents.open();
          return { consents, keptFacts };
        }
      }
    }),
    renewKeys: (keys) => seals.renew(keys),
    redis,
    close: () => redis.close(),
  };
}

/** What lies in Redis is found there by whichever store; how long a loss counts is the store's own. */
function nameOfSharedStores(operator: OperatorSettings, { doubtSeconds }: ConsentSettings): string {
  return `${storeNameOf(operator)} ${doubtSeconds}`;
}

/** @param nameOf what the stores of an operator depend on */
function storesByOperator(
  nameOf: (operator: OperatorSettings, consent: ConsentSettings) => string,
  open: OpenOperatorStores,
): Pick<Stores, 'forOperator' | 'keepOnly'> {
  const opened = new Map<string, Promise<OperatorStores>>();
  return {
    async forOperator(operator, consent) {
      const name = nameOf(operator, consent);
      const opening = opened.get(name) ?? open(operator, consent);
      opened.set(name, opening);
      const stores = await opening;
      stores.keptFacts.renew(keptFactsSettings(operator, consent));
      return stores;
    },
    keepOnly(operators, consent) {
      const names = new Set(operators.map((operator) => nameOf(operator, consent)));
      for (const name of opened.keys()) if (!names.has(name)) opened.delete(name);
    },
  };
}

function keptFactsSettings(
  { keepFactsSeconds, flow }: OperatorSettings,
  { resultSeconds }: ConsentSettings,
): KeptFactsSettings {
  return {
    keepMs: keepFactsSeconds * 1000,
    resultMs: asksOwner(flow) ? resultSeconds * 1000 : 0,
  };
}
