import { freshStateKey, startRedis } from '../redisServer.ts';
import { RedisClusterServers } from '../redisCluster.ts';
import { command } from '../redisCommands.ts';

/** How the Redis is run that the processes share. */
export const STORES = ['redis', 'cluster'] as const;

export type StoreName = (typeof STORES)[number];

/** A Redis of a stretch's own. */
export interface SharedStore {
  readonly settings: Readonly<Record<string, string>>;
  /** Of its servers. */
  readonly pids: readonly number[];
  /** What all its servers hold, replicas included. */
  readonly usedBytes: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

export async function startStore(name: StoreName): Promise<SharedStore> {
  const STATE_KEY = freshStateKey();
  switch (name) {
    case 'redis': {
      const server = await startRedis();
      const { url, port, pid } = server;
      const settings = { REDIS_URL: url, STATE_KEY };
      return {
        settings,
        pids: [pid],
        usedBytes: () => usedBytes([port]),
        stop: () => server.kill(),
      };
    }
    case 'cluster': {
      // Load is not a reason to replace a master.
      const servers = await RedisClusterServers.start({ replicas: true, nodeTimeoutMs: 15_000 });
      const settings = { REDIS_URL: servers.url, STATE_KEY };
      return {
        settings,
        pids: servers.pids,
        usedBytes: () => usedBytes(servers.ports),
        stop: () => servers.stop(),
      };
    }
  }
}

async function usedBytes(ports: readonly number[]): Promise<number> {
  const all = await Promise.all(ports.map((port) => command(port, ['INFO', 'memory'])));
  const each = all.map((info) => Number(/^used_memory:(\d+)/m.exec(String(info))?.[1]));
  return each.reduce((sum, bytes) => sum + bytes, 0);
}
