import { MemoryCounts } from './caller/quotas/memoryCounts.ts';
import { Quotas } from './caller/quotas/quotas.ts';
import { SharedCounts } from './caller/quotas/sharedCounts.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Log } from './log.ts';
import { MemoryKeptFacts } from './lookups/memoryKeptFacts.ts';
import { RedisKeptFacts } from './lookups/redisKeptFacts.ts';
import type { OperatorSettings } from './operator/operatorSettings.ts';
import { createRedis } from './sharedState/createRedis.ts';
import type { Redis } from './sharedState/redis.ts';
import { asksOwner } from './tokens/authorizationSettings.ts';
import type { OperatorStores } from './simSwaps.ts';
import { MemoryConsentStore } from './tokens/consents/memoryConsentStore.ts';
import { RedisConsentStore } from './tokens/consents/redisConsentStore.ts';

/** What stores take. */
export interface StoreParts {
  readonly config: Pick<Config, 'sharedState' | 'consent' | 'quotas'>;
  /** All of them. */
  readonly operators: readonly Pick<OperatorSettings, 'name'>[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Where quotas, consents and kept facts lie: in one Redis for all replicas, or in this process. */
export interface Stores {
  readonly quotas: Quotas;
  /** Of one operator; the same number at another operator is another. */
  forOperator(operator: OperatorSettings): Promise<OperatorStores>;
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
  return sharedStores(parts, redis, sharedState.stateKey);
}

function storesOfOneProcess({ config, operators, clock }: StoreParts): Stores {
  return {
    quotas: new Quotas(config.quotas, new MemoryCounts(clock), namesOf(operators)),
    forOperator: (operator) =>
      Promise.resolve({
        consents: new MemoryConsentStore(clock),
        keptFacts: new MemoryKeptFacts(clock, keptFactsSettings(config, operator)),
      }),
    redis: undefined,
    close: () => undefined,
  };
}

function sharedStores(
  { config, operators, clock }: StoreParts,
  redis: Redis,
  stateKey: Uint8Array,
): Stores {
  const counts = new SharedCounts(redis, stateKey, clock);
  return {
    quotas: new Quotas(config.quotas, counts, namesOf(operators)),
    async forOperator(settings) {
      const operator = nameOf(settings);
      const kept = { ...keptFactsSettings(config, settings), stateKey, operator };
      const keptFacts = new RedisKeptFacts(redis, clock, kept);
      switch (settings.flow) {
        case '2-legged':
          return { consents: new MemoryConsentStore(clock), keptFacts };
        case '3-legged': {
          const doubtMs = config.consent.doubtSeconds * 1000;
          const consents = new RedisConsentStore(redis, clock, { stateKey, operator, doubtMs });
          await consents.open();
          return { consents, keptFacts };
        }
      }
    },
    redis,
    close: () => redis.close(),
  };
}

function keptFactsSettings(
  { consent }: StoreParts['config'],
  { keepFactsSeconds, flow }: OperatorSettings,
): { readonly keepMs: number; readonly resultMs: number } {
  return {
    keepMs: keepFactsSeconds * 1000,
    resultMs: asksOwner(flow) ? consent.resultSeconds * 1000 : 0,
  };
}

function namesOf(operators: StoreParts['operators']): readonly string[] {
  return operators.map(({ name }) => name);
}

/** What tells one operator from another in a shared store. */
export function nameOf({ name, lookupAddresses, clientId }: OperatorSettings): string {
  return `${name} ${new URL(lookupAddresses.check).origin} ${clientId}`;
}
