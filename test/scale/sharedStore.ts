import { freshStateKey, startRedis } from '../redisServer.ts';
import { RedisClusterServers } from '../redisCluster.ts';

/** How the Redis is run that the processes share. */
export const STORES = ['redis', 'cluster'] as const;

export type StoreName = (typeof STORES)[number];

/** A Redis of a stretch's own. */
export interface SharedStore {
  readonly settings: Readonly<Record<string, string>>;
  /** Of its servers. */
  readonly pids: readonly number[];
  readonly stop: () => Promise<void>;
}

export async function startStore(name: StoreName): Promise<SharedStore> {
  const STATE_KEY = freshStateKey();
  switch (name) {
    case 'redis': {
      const { url, pid, kill } = await startRedis();
      return { settings: { REDIS_URL: url, STATE_KEY }, pids: [pid], stop: kill };
    }
    case 'cluster': {
      // A machine that is under load is no reason to replace a master.
      const servers = await RedisClusterServers.start({ replicas: true, nodeTimeoutMs: 15_000 });
      const settings = { REDIS_TOPOLOGY: 'cluster', REDIS_URL: servers.urls, STATE_KEY };
      return { settings, pids: servers.pids, stop: () => servers.stop() };
    }
  }
}
