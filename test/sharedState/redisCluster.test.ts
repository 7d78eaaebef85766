import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import slotOf from 'cluster-key-slot';
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
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
import { RedisClusterServers, type ClusterForm } from '../redisCluster.ts';
import { commands } from '../redisCommands.ts';
import { RecordedLog } from '../recordedLog.ts';
import { addressOf, NO_REDIS, openRedis, startRedis } from '../redisServer.ts';
import { answers, until } from './until.ts';

const COUNT = `
redis.call('HINCRBY', KEYS[1], 'count', 1)
return redis.call('HINCRBY', KEYS[2], 'count', 1)
`;
const SLOTS = 16_384;

const DOUBT_MS = 300_000;
const ECHO = `return KEYS[1]`;
const KEYS = Array.from({ length: BUCKETS }, (_, bucket) => keyIn(bucket, 'facts-2', 'x'));

let servers: RedisClusterServers;
const clusters: Redis[] = [];

async function connect(): Promise<Redis> {
  const cluster = openRedis({ kind: 'cluster', servers: servers.addresses });
  clusters.push(cluster);
  await cluster.open();
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

  it('sends each command to the master of its key, over all masters alike', async () => {
    const cluster = await connect();
    expect(await Promise.all(KEYS.map((key) => cluster.run(ECHO, [key])))).toEqual(KEYS);
    const shares = Map.groupBy(KEYS, (key) => cluster.serverOf(key));
    expect(shares.size).toBe(3);
    for (const share of shares.values()) expect(share.length).toBeGreaterThan(BUCKETS / 5);
  });

  it('goes over to the replica that takes over as planned', async () => {
    const cluster = await connect();
    const store = await storeOn(cluster, randomBytes(32));
    const number = numberOn(cluster, cluster.serverOf(KEYS[0] ?? ''));
    const { version } = await store.read(number);
    await store.write(number, version, { ends: [] }, DOUBT_MS);
    const key = keyIn(bucketOfNumber(number), 'consent-2', 'x');

    const planned = portOf(cluster, key);
    await servers.failOver(planned);
    await until(async () => (await answers(cluster, key)) && portOf(cluster, key) !== planned);

    const found = await store.read(number);
    expect(found.record).toEqual({ ends: [] });
    expect(found.doubtUntilMs).toBeUndefined();
    await servers.isHealed(true);
  }, 60_000);

  it('ends each command in time while a master is frozen, serves what others hold, and goes over to its replica', async () => {
    const cluster = await connect();
    const [key = ''] = KEYS;
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
    await servers.isHealed(true);
    expect(await Promise.all(KEYS.map((one) => cluster.run(ECHO, [one])))).toEqual(KEYS);
  }, 60_000);
});

describe.skipIf(NO_REDIS !== undefined)(`a cluster without replicas ${NO_REDIS ?? ''}`, () => {
  starting({ replicas: false, nodeTimeoutMs: 15_000 });

  it('casts doubt on the numbers of a master that comes back empty, and on no others', async () => {
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
    for (const key of KEYS) await until(() => answers(another, key));
    const newcomer = await storeOn(another, stateKey);
    await survivor.read(lost[0]);
    for (const store of [survivor, newcomer]) {
      for (const number of lost) expect((await store.read(number)).doubtUntilMs).toBeDefined();
      expect((await store.read(kept)).doubtUntilMs).toBeUndefined();
    }
  }, 60_000);

  it('fails no script while its slot is moved, be it about one key or two (ASK, TRYAGAIN)', async () => {
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

  it('fails no script under way at a server that is left without any slots', async () => {
    const redis = await connect();
    const [empty = 0, other = 0] = await servers.masters();
    const { holds } = await servers.holdingsOf(empty);
    const slots = Array.from({ length: SLOTS }, (_, slot) => slot).filter(holds);
    const over = new AbortController();
    const failures: unknown[] = [];
    let answered = 0;
    const asking = Array.from({ length: 20 }, async (_, n) => {
      for (let i = n; !over.signal.aborted; i += 1) {
        await redis.run('return 1', [KEYS[i % BUCKETS] ?? '']).then(
          () => (answered += 1),
          (error: unknown) => failures.push(error),
        );
        await systemClock.sleep(1);
      }
    });
    // All at once: the other server claims them by a newer configuration.
    const ranges = rangesOf(slots).flat().map(String);
    await commands(other, [
      ['CLUSTER', 'DELSLOTSRANGE', ...ranges],
      ['CLUSTER', 'ADDSLOTSRANGE', ...ranges],
      ['CLUSTER', 'BUMPEPOCH'],
    ]);
    await until(() => KEYS.every((key) => portOf(redis, key) !== empty));
    over.abort();
    await Promise.all(asking);
    expect(failures).toEqual([]);
    expect(answered).toBeGreaterThan(20);
  }, 30_000);
});

/** First and last of each run of numbers that follow each other. */
function rangesOf(numbers: readonly number[]): readonly (readonly [number, number])[] {
  const firsts = numbers.filter((one, n) => numbers[n - 1] !== one - 1);
  const lasts = numbers.filter((one, n) => numbers[n + 1] !== one + 1);
  return firsts.map((first, n) => [first, lasts[n] ?? first] as const);
}

async function storeOn(cluster: Redis, stateKey: Uint8Array): Promise<RedisConsentStore> {
  const seals = new StateSeals([stateKey]);
  const settings = { seals, doubtMs: DOUBT_MS, deniedMs: DOUBT_MS, operators: [] };
  const store = new RedisConsentStore(cluster, systemClock, settings);
  await store.open();
  return store;
}

it.skipIf(NO_REDIS !== undefined).each([
  ['a Redis that is no cluster', {}],
  ['a password that is wrong', { requirepass: 'another' }],
])('%s is told to the log, once', async (_name, settings) => {
  const redis = await startRedis(undefined, settings);
  const log = new RecordedLog();
  const cluster = openRedis({ kind: 'cluster', servers: [addressOf(redis.url)] }, log);
  try {
    await cluster.open();
    await expect(cluster.run(ECHO, [KEYS[0] ?? ''])).rejects.toThrow(SharedStateLost);
    await expect.poll(() => log.troubles.length).toBe(1);
    expect(log.troubles[0]?.message).toContain('See REDIS_URL');
    expect(log.troubles[0]).toMatchObject({ servers: `127.0.0.1:${redis.port}` });
  } finally {
    cluster.close();
    await redis.kill();
  }
});

/** A number that lies on a server. */
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

it('a server at an IPv6 address that MOVED names is sent the script', async () => {
  const sent: string[] = [];
  let map = '';
  /** One server of a cluster that is made up: what it says of slots, and of scripts. */
  const serve = async (name: string, toScript: string): Promise<number> => {
    const server = createServer((socket) => {
      socket
        .on('error', () => undefined)
        .on('data', (data) => {
          const text = data.toString('latin1').toUpperCase();
          if (text.includes('EVAL')) sent.push(name);
          const reply = text.includes('EVAL') ? toScript : '+PONG\r\n';
          socket.write(text.includes('SLOTS') ? map : reply);
        });
    });
    onTestFinished(() => void server.close());
    server.listen(0, '::1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const other = await serve('other', '*3\r\n$1\r\n1\r\n$4\r\ndone\r\n:7\r\n');
  const port = await serve('one', `-MOVED ${slotOf('key')} ::1:${other}\r\n`);
  map = `*1\r\n*3\r\n:0\r\n:${SLOTS - 1}\r\n*2\r\n$3\r\n::1\r\n:${port}\r\n`;
  const redis = openRedis({ kind: 'cluster', servers: [{ host: '::1', port }] });
  onTestFinished(() => redis.close());
  await redis.open();
  expect(await redis.run('return 7', ['key'])).toBe(7);
  expect(sent).toEqual(['one', 'other']);
});
