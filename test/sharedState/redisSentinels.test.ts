import { beforeAll, describe, expect, it } from 'vitest';
import type { Redis } from '../../src/sharedState/redis.ts';
import { systemClock } from '../../src/system/clock.ts';
import { command } from '../support/redisCommands.ts';
import {
  behind,
  NO_REDIS,
  openRedis,
  startRedis,
  startSentinels,
  type RedisServer,
} from '../support/redisServer.ts';
import { until } from './until.ts';

const WRITE = `redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])`;

let master: RedisServer;
let replica: RedisServer;
let sentinels: readonly RedisServer[] = [];
let redis: Redis;

function writes(): Promise<boolean> {
  return redis.run(WRITE, ['key'], ['value']).then(
    () => true,
    () => false,
  );
}

async function saysOfReplica(line: string): Promise<boolean> {
  return String(await command(replica.port, ['INFO', 'replication'])).includes(line);
}

describe.skipIf(NO_REDIS !== undefined)(`a Redis behind sentinels ${NO_REDIS ?? ''}`, () => {
  beforeAll(async () => {
    master = await startRedis(undefined, { 'repl-diskless-sync-delay': '0' });
    replica = await startRedis(undefined, { replicaof: `127.0.0.1 ${master.port}` });
    await until(() => saysOfReplica('master_link_status:up'));
    sentinels = await startSentinels(master);
    redis = openRedis(behind(sentinels));
    await redis.open();
    return async () => {
      redis.close();
      await Promise.all([master, replica, ...sentinels].map((server) => server.kill()));
    };
  }, 60_000);

  it('is written to at its master', async () => {
    await until(writes);
    expect(redis.serverOf('key')).toBe(`127.0.0.1:${master.port}`);
  });

  it('is written to at the replica that the sentinels put in place of a dead master', async () => {
    // All sentinels know of the replica and of each other.
    await until(async () => {
      const known = await Promise.all(
        sentinels.map(({ port }) => command(port, ['SENTINEL', 'MASTER', 'mymaster'])),
      );
      return known.every((one) => /num-slaves,1,num-other-sentinels,2/.test(String(one)));
    });
    await master.kill();
    await until(
      async () => (await writes()) && redis.serverOf('key') !== `127.0.0.1:${master.port}`,
    );
    expect(redis.serverOf('key')).toBe(`127.0.0.1:${replica.port}`);
  }, 60_000);

  it('is written to when every sentinel is gone, for its master is not', async () => {
    await Promise.all(sentinels.map((sentinel) => sentinel.kill()));
    // Longer than two rounds of queries.
    const endsAtMs = Date.now() + 2500;
    while (Date.now() < endsAtMs) {
      expect(await writes()).toBe(true);
      await systemClock.sleep(100);
    }
  });
});
