import { createServer, type Socket } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { SharedStateLost, type Redis } from '../../src/sharedState/redis.ts';
import { RedisConnector } from '../../src/sharedState/redisConnector.ts';
import { systemClock } from '../../src/system/clock.ts';
import { listen } from '../support/listening.ts';
import { RecordedLog } from '../support/recordedLog.ts';
import { RedisClusterServers } from '../support/redisCluster.ts';
import { command } from '../support/redisCommands.ts';
import { RedisProxy } from '../support/redisProxy.ts';
import {
  addressOf,
  behind,
  connectionTo,
  NO_REDIS,
  openRedis,
  startRedis,
  startSentinels,
} from '../support/redisServer.ts';
import { answers, until } from './until.ts';

/** A connection that has died in silence is replaced by then. */
const BACK_WITHIN_MS = 5000;

/** Longer than a silent connection is kept. */
const STALL_MS = 3000;

// Many tests run and wait at once: everything is closed at the end of the file.
const ending = new AsyncDisposableStack();
afterAll(() => ending.disposeAsync());

async function redisServer() {
  return ending.adopt(await startRedis(), (server) => server.kill());
}

async function proxyBefore(port: number): Promise<RedisProxy> {
  return ending.adopt(await RedisProxy.before(port), (proxy) => proxy.close());
}

async function opened(redis: Redis): Promise<Redis> {
  ending.defer(() => redis.close());
  await redis.open();
  await until(() => answers(redis));
  return redis;
}

/** Each resolves to a function that connects, and the proxies in between. */
async function oneServer() {
  const proxy = await proxyBefore((await redisServer()).port);
  return { connect: () => opened(connectionTo(proxy.url)), proxies: [proxy] };
}

async function behindSentinels() {
  const server = await redisServer();
  const proxy = await proxyBefore(server.port);
  const sentinels = await startSentinels({ ...server, port: proxy.port }, { count: 1 });
  for (const one of sentinels) ending.defer(() => one.kill());
  return { connect: () => opened(openRedis(behind(sentinels))), proxies: [proxy] };
}

async function cluster() {
  const servers = await RedisClusterServers.start({ replicas: false, nodeTimeoutMs: 15_000 });
  ending.defer(() => servers.stop());
  const proxies = await RedisProxy.beforeAll(servers.ports);
  for (const proxy of proxies) ending.defer(() => proxy.close());
  const addresses = proxies.map(({ url }) => addressOf(url));
  return { connect: () => opened(openRedis({ kind: 'cluster', servers: addresses })), proxies };
}

const TOPOLOGIES = [
  ['one server', oneServer],
  ['a master behind sentinels', behindSentinels],
  ['a cluster', cluster],
] as const;

/** A server, a connection to it, and the log of the connection. */
async function logged() {
  const server = await redisServer();
  const log = new RecordedLog();
  return { server, log, redis: await opened(connectionTo(server.url, log)) };
}

describe.skipIf(NO_REDIS !== undefined)(`a Redis ${NO_REDIS ?? ''}`, { concurrent: true }, () => {
  it.each(TOPOLOGIES)(
    '%s whose connections die in silence is back in five seconds, with and without commands meanwhile',
    async (_, reach) => {
      const { connect, proxies } = await reach();
      const [busy, idle] = [await connect(), await connect()];
      for (const proxy of proxies) proxy.silence();
      const diedAtMs = performance.now();
      let backAfterMs = Infinity;
      const goOn = async (): Promise<void> => {
        if (await answers(busy)) backAfterMs = Math.min(backAfterMs, performance.now() - diedAtMs);
      };
      while (performance.now() - diedAtMs < BACK_WITHIN_MS) {
        if (backAfterMs === Infinity) void goOn();
        await systemClock.sleep(50);
      }
      expect(backAfterMs).toBeLessThan(BACK_WITHIN_MS);
      expect(await answers(idle)).toBe(true);
    },
    60_000,
  );

  it('is reported as back whenever a connection is made again, since another server may have taken over', async () => {
    const { connect, proxies } = await oneServer();
    const redis = await connect();
    let backs = 0;
    redis.onBack(() => (backs += 1));
    for (const proxy of proxies) proxy.cut();
    await until(() => answers(redis));
    expect(backs).toBeGreaterThan(0);
  });

  it('whose reply drips is disconnected after some seconds', async () => {
    const { url, counts } = await startEndless('*100000\r\n', Buffer.from(':1\r\n'), 100);
    const startedAtMs = performance.now();
    const redis = connectionTo(url);
    ending.defer(() => redis.close());
    await redis.open();
    await expect(redis.run('return 1', ['key'])).rejects.toThrow(SharedStateLost);
    await until(() => counts.closed > 0);
    expect(performance.now() - startedAtMs).toBeLessThan(BACK_WITHIN_MS);
  }, 20_000);

  it('is logged when it freezes and when it is back', async () => {
    const { server, log, redis } = await logged();
    const host = redis.serverOf('key');
    server.freeze();
    await until(() => log.lines.length > 0);
    server.thaw();
    await until(() => log.lines.length > 1);
    expect(log.lines).toEqual([
      { level: 'warn', message: 'The shared store is lost.', host, reason: 'NO_REPLY' },
      {
        level: 'info',
        message: 'The shared store is back.',
        host,
        awaySeconds: expect.any(Number),
      },
    ]);
  });

  it('is logged when it is killed, as in docs/operations.md', async () => {
    const { server, log } = await logged();
    await server.kill();
    await until(() => log.lines.length > 0);
    const host = `127.0.0.1:${server.port}`;
    const lost = { level: 'warn', message: 'The shared store is lost.', host };
    expect(log.lines).toEqual([{ ...lost, reason: 'ECONNREFUSED' }]);
  });

  it('is logged when its eviction policy changes to a forgetful one', async () => {
    const { server, log } = await logged();
    await command(server.port, ['CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru']);
    await until(() => log.lines.length > 0);
    expect(log.lines).toMatchObject([{ level: 'warn', maxmemoryPolicy: 'allkeys-lru' }]);
  }, 15_000);
});

it.skipIf(NO_REDIS !== undefined)(
  'a server is not given up for replies that arrived while this process stalled',
  async () => {
    const { log, redis } = await logged();
    const commands = Array.from({ length: 100 }, () => redis.run('return 1', ['key']));
    // Commands of a tick are written together at its end; replies come later.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    stall(STALL_MS);
    expect(await Promise.all(commands)).toEqual(commands.map(() => 1));
    expect(log.lines).toEqual([]);
  },
  20_000,
);

/** As in a process that is held up, or busy. */
function stall(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** How a reply begins, and what it repeats. */
const ENDLESS: readonly [string, string, Buffer][] = [
  ['a text', '$4294967296\r\n', Buffer.alloc(64 * 1024, 'x')],
  ['a line', '+', Buffer.alloc(64 * 1024, 'x')],
  ['a list of numbers', '*4294967296\r\n', Buffer.from(':1\r\n'.repeat(4096))],
  ['lists in lists', '', Buffer.from('*1\r\n'.repeat(4096))],
  // What the library reads as a length or the end of a line, and a type of another protocol.
  ['a text with letters for its length', '$zzzzzzzzz\r\n', Buffer.from('+x\r\n'.repeat(4096))],
  ['lines that end by half', '+', Buffer.from('x\n'.repeat(8192))],
  ['a text of RESP 3', '=4294967296\r\n', Buffer.from('+x\r\n'.repeat(4096))],
];

/** A server whose replies to scripts have no end. */
async function startEndless(begins: string, goesOn: Buffer, everyMs = 0) {
  const counts = { written: 0, closed: 0 };
  const reply = async (socket: Socket): Promise<void> => {
    socket.write(begins);
    while (!socket.destroyed) {
      counts.written += goesOn.length;
      if (!socket.write(goesOn)) await drained(socket);
      if (everyMs > 0) await systemClock.sleep(everyMs);
    }
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined).once('close', () => (counts.closed += 1));
    socket.on('data', (data) => {
      if (!data.toString('latin1').toUpperCase().includes('EVAL')) socket.write('+OK\r\n');
      else void reply(socket);
    });
  });
  const url = await listen(server);
  ending.defer(() => void server.close());
  return { url, counts };
}

describe('a reply without an end', () => {
  it.each(ENDLESS)('that is %s ends its connection before much is read', async (_, ...reply) => {
    const { url, counts } = await startEndless(...reply);
    const socket = await new RedisConnector(addressOf(url)).connect();
    socket.write('EVAL');
    await until(() => counts.closed > 0);
    // The system's buffers are counted too.
    expect(counts.written).toBeLessThan(24 * 2 ** 20);
  });
});

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('drain', resolve).once('close', resolve);
  });
}
