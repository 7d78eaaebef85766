import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import slotOf from 'cluster-key-slot';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { BUCKETS, keyIn } from '../../src/sharedState/buckets.ts';
import type { Redis } from '../../src/sharedState/redis.ts';
import { systemClock } from '../../src/system/clock.ts';
import { RedisClusterServers } from '../redisCluster.ts';
import { command, commands } from '../redisCommands.ts';
import { NO_REDIS, openRedis } from '../redisServer.ts';
import { until } from './until.ts';

const COUNT = `
redis.call('HINCRBY', KEYS[1], 'count', 1)
return redis.call('HINCRBY', KEYS[2], 'count', 1)
`;
const SLOTS = 16_384;

describe.skipIf(NO_REDIS !== undefined)(`slots that are moved ${NO_REDIS ?? ''}`, () => {
  let servers: RedisClusterServers;
  let redis: Redis;
  beforeAll(async () => {
    servers = await RedisClusterServers.start({ replicas: false, nodeTimeoutMs: 15_000 });
    redis = openRedis({ kind: 'cluster', servers: servers.addresses });
    await redis.open();
  }, 60_000);
  afterAll(async () => {
    redis.close();
    await servers.stop();
  });

  const portOf = (key: string): number => Number(redis.serverOf(key).split(':')[1]);

  it('fail no script, be it about one key or two (ASK, TRYAGAIN)', async () => {
    const [one, two] = ['one', 'two'].map((name) => keyIn(17, 'facts-2', name));
    const keys = [one ?? '', two ?? ''];
    await redis.run(COUNT, keys);
    const from = portOf(keys[0] ?? '');
    const to = (await servers.masters()).find((port) => port !== from) ?? 0;
    const over = new AbortController();
    const moving = move(slotOf(keys[0] ?? ''), from, to, 200).finally(() => over.abort());
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
    expect(portOf(keys[0] ?? '')).toBe(to);
  }, 20_000);

  it('fail no script of those under way at a server that is left without any', async () => {
    const keys = Array.from({ length: BUCKETS }, (_, bucket) => keyIn(bucket, 'facts-2', 'x'));
    const [empty = 0, other = 0] = await servers.masters();
    const { holds } = await servers.holdingsOf(empty);
    const slots = Array.from({ length: SLOTS }, (_, slot) => slot).filter(holds);
    const over = new AbortController();
    const failures: unknown[] = [];
    let answered = 0;
    const asking = Array.from({ length: 20 }, async (_, n) => {
      for (let i = n; !over.signal.aborted; i += 1) {
        await redis.run('return 1', [keys[i % BUCKETS] ?? '']).then(
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
    await until(() => keys.every((key) => portOf(key) !== empty));
    over.abort();
    await Promise.all(asking);
    expect(failures).toEqual([]);
    expect(answered).toBeGreaterThan(100);
  }, 30_000);
});

async function idOf(port: number): Promise<string> {
  return String(await command(port, ['CLUSTER', 'MYID']));
}

/** Moves a slot as redis-cli does, one key at a time. */
async function move(slot: number, from: number, to: number, pauseMs: number): Promise<void> {
  const [fromId, toId] = await Promise.all([idOf(from), idOf(to)]);
  const set = (port: number, ...words: string[]) =>
    command(port, ['CLUSTER', 'SETSLOT', String(slot), ...words]);
  await set(to, 'IMPORTING', fromId);
  await set(from, 'MIGRATING', toId);
  for (;;) {
    const found = await command(from, ['CLUSTER', 'GETKEYSINSLOT', String(slot), '1']);
    const [key] = Array.isArray(found) ? found.map(String) : [];
    if (key === undefined) break;
    await systemClock.sleep(pauseMs);
    await command(from, ['MIGRATE', '127.0.0.1', String(to), key, '0', '1000']);
  }
  await set(to, 'NODE', toId);
  await set(from, 'NODE', toId);
}

/** First and last of each run of numbers that follow each other. */
function rangesOf(numbers: readonly number[]): readonly (readonly [number, number])[] {
  const firsts = numbers.filter((one, n) => numbers[n - 1] !== one - 1);
  const lasts = numbers.filter((one, n) => numbers[n + 1] !== one + 1);
  return firsts.map((first, n) => [first, lasts[n] ?? first] as const);
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '::1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** One server of a cluster that is made up: what it says of slots, and of scripts. */
async function madeUp(hostOfOther: string) {
  const sent: string[] = [];
  let map = '';
  const serverOf = (name: string, toScript: () => string): Server =>
    createServer((socket) => {
      socket
        .on('error', () => undefined)
        .on('data', (data) => {
          const text = data.toString('latin1').toUpperCase();
          if (text.includes('SLOTS')) socket.write(map);
          else if (text.includes('EVAL')) {
            sent.push(name);
            socket.write(toScript());
          } else socket.write('+PONG\r\n');
        });
    });
  let otherPort = 0;
  const one = serverOf('one', () => `-MOVED ${slotOf('key')} ${hostOfOther}:${otherPort}\r\n`);
  const other = serverOf('other', () => '*3\r\n$1\r\n1\r\n$4\r\ndone\r\n:7\r\n');
  const port = await listen(one);
  otherPort = await listen(other);
  map = `*1\r\n*3\r\n:0\r\n:${SLOTS - 1}\r\n*2\r\n$3\r\n::1\r\n:${port}\r\n`;
  return { port, sent, close: () => [one, other].forEach((server) => server.close()) };
}

describe('a server at an IPv6 address', () => {
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

  it('that MOVED names is sent the script', async () => {
    const cluster = await madeUp('::1');
    const redis = openRedis({ kind: 'cluster', servers: [{ host: '::1', port: cluster.port }] });
    ends.push(() => redis.close(), cluster.close);
    await redis.open();
    expect(await redis.run('return 7', ['key'])).toBe(7);
    expect(cluster.sent).toEqual(['one', 'other']);
  });
});
