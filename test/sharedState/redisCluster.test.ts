import { randomBytes } from 'node:crypto';
import slotOf from 'cluster-key-slot';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import {
  bucketOfNumber,
  BUCKETS,
  keyIn,
  SharedStateLost,
  type Redis,
} from '../../src/sharedState/redis.ts';
import { StateSeals } from '../../src/sharedState/stateSeals.ts';
import { systemClock } from '../../src/system/clock.ts';
import { RedisConsentStore } from '../../src/consents/redisConsentStore.ts';
import { RedisClusterServers, type ClusterForm } from '../support/redisCluster.ts';
import { RecordedLog } from '../support/recordedLog.ts';
import { addressOf, NO_REDIS, openRedis, startRedis } from '../support/redisServer.ts';
import { answers, until } from './until.ts';

const COUNT = `
redis.call('HINCRBY', KEYS[1], 'count', 1)
return redis.call('HINCRBY', KEYS[2], 'count', 1)
`;

const DOUBT_MS = 300_000;
const ECHO = `return KEYS[1]`;
const KEYS = Array.from({ length: BUCKETS }, (_, bucket) => keyIn(bucket, 'facts-2', 'x'));

let servers: RedisClusterServers;
const clusters: Redis[] = [];

async function connect(): Promise<Redis> {
  const cluster = openRedis({ kind: 'cluster', servers: servers.addresses });
  clusters.push(cluster);
  await cluster.open();
  // On a busy machine the first command of a connection may take longer than its second.
  for (const key of KEYS) await until(() => answers(cluster, key));
  return cluster;
}

function starting(form: ClusterForm): void {
  beforeAll(async () => {
    servers = await RedisClusterServers.start(form);
    return () => servers.stop();
  }, 60_000);
  afterEach(() => {
    for (const cluster of clusters.splice(0)) cluster.close();
  });
}

function portOf(cluster: Redis, key: string): number {
  return Number(cluster.serverOf(key).split(':')[1]);
}

describe.skipIf(NO_REDIS !== undefined)(`a cluster with replicas ${NO_REDIS ?? ''}`, () => {
  starting({ replicas: true });

  it('sends each command to the master of its key, and each master has about as many keys', async () => {
    const cluster = await connect();
    expect(await Promise.all(KEYS.map((key) => cluster.run(ECHO, [key])))).toEqual(KEYS);
    const shares = Map.groupBy(KEYS, (key) => cluster.serverOf(key));
    expect(shares.size).toBe(3);
    for (const share of shares.values()) expect(share.length).toBeGreaterThan(BUCKETS / 5);
  });

  it('ends each command in time while a master is frozen, serves the keys of others, and uses its replica with all its records', async () => {
    const cluster = await connect();
    const store = await storeOn(cluster, randomBytes(32));
    const [key = ''] = KEYS;
    const number = numberOn(cluster, cluster.serverOf(key));
    const { version } = await store.read(number);
    await store.write(number, version, { ends: [] }, DOUBT_MS);
    await servers.isHealed(true);
    const frozen = portOf(cluster, key);
    const others = KEYS.filter((one) => portOf(cluster, one) !== frozen);
    servers.server(frozen).freeze();
    try {
      const lost = Array.from({ length: 20 }, () => answers(cluster, key));
      expect(await Promise.all(others.map((one) => cluster.run(ECHO, [one])))).toEqual(others);
      expect(await Promise.all(lost)).toContain(false);
      await until(async () => (await answers(cluster, key)) && portOf(cluster, key) !== frozen);
    } finally {
      servers.server(frozen).thaw();
    }
    expect(await store.read(number)).toMatchObject({ record: { ends: [] } });
  }, 60_000);
});

describe.skipIf(NO_REDIS !== undefined)(`a cluster without replicas ${NO_REDIS ?? ''}`, () => {
  starting({ replicas: false, nodeTimeoutMs: 15_000 });

  it('keeps a doubt only about the numbers of a master that comes back empty', async () => {
    const stateKey = randomBytes(32);
    const cluster = await connect();
    const survivor = await storeOn(cluster, stateKey);
    const server = cluster.serverOf(KEYS[0] ?? '');
    const lost = [numberOn(cluster, server), numberOn(cluster, server, 20)] as const;
    const other = KEYS.map((key) => cluster.serverOf(key)).find((one) => one !== server) ?? '';
    const kept = numberOn(cluster, other);

    const port = Number(server.split(':')[1]);
    await servers.server(port).kill();
    await expect(survivor.read(lost[0])).rejects.toThrow(SharedStateLost);
    expect((await survivor.read(kept)).doubtUntilMs).toBeUndefined();
    await servers.restart(port);
    await until(async () => answers(cluster, KEYS[0] ?? ''));

    const another = await connect();
    const newcomer = await storeOn(another, stateKey);
    await survivor.read(lost[0]);
    for (const store of [survivor, newcomer]) {
      for (const number of lost) expect((await store.read(number)).doubtUntilMs).toBeDefined();
      expect((await store.read(kept)).doubtUntilMs).toBeUndefined();
    }
  }, 60_000);

  it('fails no script about two keys while their slot is moved (ASK, TRYAGAIN)', async () => {
    const redis = await connect();
    const [one, two] = ['one', 'two'].map((name) => keyIn(17, 'facts-2', name));
    const keys = [one ?? '', two ?? ''];
    await redis.run(COUNT, keys);
    const from = portOf(redis, keys[0] ?? '');
    const to = (await servers.masters()).find((port) => port !== from) ?? 0;
    const over = new AbortController();
    const moving = servers
      .moveSlot(slotOf(keys[0] ?? ''), from, to, { atOnce: 1, pauseMs: 200 })
      .finally(() => over.abort());
    const failures: unknown[] = [];
    let runs = 1;
    while (!over.signal.aborted) {
      runs += 1;
      await redis.run(COUNT, keys).catch((error: unknown) => failures.push(error));
      await systemClock.sleep(5);
    }
    await moving;
    expect(failures).toEqual([]);
    expect(await redis.run(COUNT, keys)).toBe(runs + 1);
    expect(portOf(redis, keys[0] ?? '')).toBe(to);
  }, 20_000);
});

async function storeOn(cluster: Redis, stateKey: Uint8Array): Promise<RedisConsentStore> {
  const seals = new StateSeals([stateKey]);
  const settings = { seals, doubtMs: DOUBT_MS };
  const store = new RedisConsentStore(cluster, systemClock, settings);
  await store.open();
  return store;
}

it.skipIf(NO_REDIS !== undefined).each([
  ['a Redis that is not a cluster', {}],
  ['a wrong password', { requirepass: 'another' }],
])('logs %s once', async (_name, settings) => {
  const redis = await startRedis(undefined, settings);
  const log = new RecordedLog();
  const cluster = openRedis({ kind: 'cluster', servers: [addressOf(redis.url)] }, log);
  try {
    await cluster.open();
    await expect(cluster.run(ECHO, [KEYS[0] ?? ''])).rejects.toThrow(SharedStateLost);
    await expect.poll(() => log.troubles.length).toBe(1);
    expect(log.troubles[0]?.message).toContain('Check REDIS_URL');
    expect(log.troubles[0]).toMatchObject({ servers: `127.0.0.1:${redis.port}` });
  } finally {
    cluster.close();
    await redis.kill();
  }
});

/** A number whose record is on a server. */
function numberOn(cluster: Redis, server: string, from = 0): PhoneNumber {
  const numbers = Array.from({ length: 1000 }, (_, n) => `+447700900${String(n).padStart(3, '0')}`);
  const found = numbers
    .slice(from)
    .find(
      (one) =>
        cluster.serverOf(keyIn(bucketOfNumber(one as PhoneNumber), 'consent-2', 'x')) === server,
    );
  return (found ?? '') as PhoneNumber;
}
