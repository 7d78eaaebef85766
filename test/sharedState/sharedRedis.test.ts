import { createServer } from 'node:net';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { OutOfMemory, SharedStateLost, type Redis } from '../../src/sharedState/redis.ts';
import { SharedRedis } from '../../src/sharedState/sharedRedis.ts';
import { listen } from '../support/listening.ts';
import { RecordedLog } from '../support/recordedLog.ts';
import { command } from '../support/redisCommands.ts';
import { RedisProxy } from '../support/redisProxy.ts';
import { connectionTo, NO_REDIS, startRedis, type RedisServer } from '../support/redisServer.ts';
import { TestClock } from '../support/testClock.ts';
import { systemClock } from '../../src/system/clock.ts';
import { answers, until } from './until.ts';

const APPEND = `return redis.call('HINCRBY', KEYS[1], 'count', ARGV[1])`;

describe.skipIf(NO_REDIS !== undefined)(`scripts on the wire ${NO_REDIS ?? ''}`, () => {
  let server: RedisServer;
  let proxy: RedisProxy;
  let redis: Redis;
  let log: RecordedLog;
  beforeEach(async () => {
    server = await startRedis();
    proxy = await RedisProxy.before(server.port);
    log = new RecordedLog();
    redis = connectionTo(proxy.url, log);
    await redis.open();
    await until(() => answers(redis));
    return async () => {
      redis.close();
      await proxy.close();
      await server.kill();
    };
  });

  it('are sent again within their time when the connection breaks before the reply', async () => {
    let left = 1;
    proxy.cutsAfter = () => left-- > 0;
    const reply = await redis.run(`return { KEYS[1], ARGV[1] }`, ['key'], ['value']);
    expect([reply, proxy.cuts]).toEqual([['key', 'value'], 1]);
  });

  it('do nothing once they were reported as lost, however late they arrive', async () => {
    expect(await redis.run(APPEND, ['count'], [1])).toBe(1);
    proxy.copiesAfterMs = [1500];
    server.freeze();
    await expect(redis.run(APPEND, ['count'], [1])).rejects.toThrow(SharedStateLost);
    server.thaw();
    await until(() => proxy.copies > 0);
    proxy.copiesAfterMs = [];
    await until(() => answers(redis));
    expect(await command(server.port, ['HGET', 'count', 'count'])).toBe('1');
  });

  it('are sent by hash, and once by text to a server that does not know them', async () => {
    const sent: string[] = [];
    proxy.cutsAfter = ({ words: [name = '', script = ''] }) => {
      sent.push(`${name.toUpperCase()} ${/^[0-9a-f]{40}$/.test(script) ? 'name' : 'text'}`);
      return false;
    };
    expect(await redis.run(APPEND, ['count'], [1])).toBe(1);
    expect(await redis.run(APPEND, ['count'], [1])).toBe(2);
    await command(server.port, ['SCRIPT', 'FLUSH']);
    expect(await redis.run(APPEND, ['count'], [1])).toBe(3);
    const unknown = ['EVALSHA name', 'EVAL text'];
    expect(sent).toEqual([...unknown, 'EVALSHA name', ...unknown]);
  });

  it('do nothing once they were reported as lost, before any reply has shown the clock of their server', async () => {
    // So that the server knows the script.
    await redis.run(APPEND, ['another'], [1]);
    const fresh = connectionTo(proxy.url);
    await fresh.open();
    server.freeze();
    await expect(fresh.run(APPEND, ['count'], [1])).rejects.toThrow(SharedStateLost);
    server.thaw();
    await until(() => answers(fresh));
    fresh.close();
    expect(await command(server.port, ['HGET', 'count', 'count'])).toBe(null);
  });

  // By how much our clock runs ahead meanwhile, as if the server's were set.
  it.each([0, 60_000, -60_000])(
    'have values computed from the clock of their server, and again where that was set (%d ms)',
    async (aheadMs) => {
      let ranAheadMs = 0;
      const monotonicMs = () => systemClock.monotonicMs() + ranAheadMs;
      const clock = { ...systemClock, monotonicMs };
      const own = connectionTo(server.url, log, clock);
      await own.open();
      await until(() => answers(own));
      ranAheadMs = aheadMs;
      let times = 0;
      const reply = await own.run('return { nowText, ARGV[1] }', ['key'], (of) => {
        times += 1;
        return [clock.monotonicMs() + of.minAheadMs];
      });
      own.close();
      const [nowMs = 0, computedMs = 0] = (reply as string[]).map(Number);
      expect(times).toBe(aheadMs === 0 ? 1 : 2);
      expect(computedMs).toBeLessThanOrEqual(nowMs);
      expect(computedMs).toBeGreaterThan(nowMs - 1000);
    },
  );

  it('that find no room are logged with their server', async () => {
    await command(server.port, ['CONFIG', 'SET', 'maxmemory', '1']);
    await expect(redis.run(APPEND, ['count'], [1])).rejects.toThrow(OutOfMemory);
    const host = redis.serverOf('count');
    const logged = log.troubles.filter(({ message }) => message.includes('full'));
    expect(logged).toEqual([expect.objectContaining({ level: 'warn', host })]);
  });
});

/** A Redis of which only its replies matter. */
const redisThat = (run: Redis['run']): Redis => ({
  run,
  open: () => Promise.resolve(),
  serverOf: () => 'server',
  onBack: () => undefined,
  close: () => undefined,
});

it('a script that waits for its next try is lost at once when its connection is closed', async () => {
  const clock = new TestClock();
  const away = redisThat(() => Promise.reject(new SharedStateLost()));
  const redis = new SharedRedis(away, clock, new RecordedLog());
  const running = redis.run(APPEND, ['count'], [1]);
  await expect.poll(() => clock.sleepers).toBe(1);
  redis.close();
  await expect(running).rejects.toThrow(SharedStateLost);
  expect(clock.sleepers).toBe(0);
});

it('a script that its server does not know is not sent by text when its time is over', async () => {
  const sent: string[] = [];
  const said = Promise.withResolvers<undefined>();
  const server = createServer((socket) => {
    // A client that gives a reply up may reset its connection.
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      const [name = 'PING'] = /EVAL(?:SHA)?/i.exec(data.toString()) ?? [];
      sent.push(name.toUpperCase());
      const reply = name === 'PING' ? '+PONG\r\n' : '-NOSCRIPT No matching script.\r\n';
      if (sent.some((one) => one !== 'PING')) void said.promise.then(() => socket.write(reply));
      else socket.write(reply);
    });
  });
  const redis = connectionTo(await listen(server));
  await redis.open();
  await expect(redis.run(APPEND, ['count'], [1])).rejects.toThrow(SharedStateLost);
  said.resolve(undefined);
  const asked = sent.length;
  await until(() => sent.length > asked);
  redis.close();
  server.close();
  expect(sent.filter((name) => name.startsWith('EVAL'))).toEqual(['EVALSHA']);
});

it.each([['OK'], [[]], [['soon', 'done', 1]], [[1, 'done', 1]]])(
  'a reply that is not of our scripts, such as %j, is SharedStateLost, never a result',
  async (reply) => {
    const clock = new TestClock();
    const run = vi.fn<Redis['run']>(() => Promise.resolve(reply));
    const redis = new SharedRedis(redisThat(run), clock, new RecordedLog());
    const result = redis.run('return 1', ['key']).catch((error: unknown) => error);
    for (let second = 0; second < 2; second += 1) await clock.advance(1000);
    expect(await result).toBeInstanceOf(SharedStateLost);
    expect(run.mock.calls.length).toBeLessThan(30);
  },
);
