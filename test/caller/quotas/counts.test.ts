import { setImmediate as afterReads } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CountClaim } from '../../../src/caller/quotas/quotas.ts';
import { MemoryCounts } from '../../../src/caller/quotas/memoryCounts.ts';
import {
  COUNTED_APART,
  COUNTED_TOGETHER,
  SharedCounts,
} from '../../../src/caller/quotas/sharedCounts.ts';
import { systemClock } from '../../../src/system/clock.ts';
import type { Redis } from '../../../src/sharedState/redis.ts';
import { StateSeals } from '../../../src/sharedState/stateSeals.ts';
import { RecordedLog } from '../../support/recordedLog.ts';
import { command } from '../../support/redisCommands.ts';
import { RedisProxy } from '../../support/redisProxy.ts';
import { connectionTo, NO_REDIS, startRedis, type RedisServer } from '../../support/redisServer.ts';
import { TestClock } from '../../support/testClock.ts';

const HOUR_MS = 3_600_000;
const BOUNDS = { maxWindowBytes: 64 * 1024, maxMemberBytes: 64 * 1024 };

let clock: TestClock;
beforeEach(() => {
  clock = new TestClock();
});

/** As a lookup is counted. */
function lookup(counts: MemoryCounts, caller: string, number: number, limit = Infinity) {
  const member = counts.nameOf(`${caller} ${number}`);
  return counts.claim(counts.nameOf(caller), [
    { count: 'numbers', limit, member },
    { count: 'lookups', limit: Infinity },
  ]);
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

describe('the memory of one process', () => {
  it('is not changed by what is given back after its hour', async () => {
    const counts = new MemoryCounts(clock, BOUNDS);
    const { giveBack } = lookup(counts, 'risk', 1);
    await clock.advance(HOUR_MS);
    lookup(counts, 'risk', 1);
    const { bytes } = counts;
    void giveBack();
    expect(counts.bytes).toBe(bytes);
    expect(counts.read(counts.nameOf('risk'), ['numbers', 'lookups']).counts).toEqual([1, 1]);
  });

  it('is bounded in bytes, whatever the names and the number of callers', () => {
    const counts = new MemoryCounts(clock, BOUNDS);
    fc.assert(
      fc.property(fc.string({ maxLength: 8000 }), fc.nat(9_999_999), (caller, number) => {
        lookup(counts, caller, number);
        expect(counts.bytes).toBeLessThanOrEqual(BOUNDS.maxWindowBytes + BOUNDS.maxMemberBytes);
      }),
      { numRuns: 3000 },
    );
    expect(counts.bytes).toBeGreaterThan(BOUNDS.maxWindowBytes);
  });

  it('is estimated high enough', () => {
    const before = heapBytes();
    const counts = new MemoryCounts(clock);
    for (let n = 0; n < 30_000; n += 1) lookup(counts, `caller ${n % 10_000}`, n);
    const grown = heapBytes() - before;
    expect(counts.bytes).toBeGreaterThan(grown);
  });

  it('forgets numbers before it forgets what a caller has spent', () => {
    const counts = new MemoryCounts(clock, { ...BOUNDS, maxMemberBytes: 2000 });
    const made = Array.from({ length: 1000 }, (_, n) => lookup(counts, 'a', n, 100));
    expect(made.filter(({ over }) => over === undefined)).toHaveLength(100);
    expect(lookup(counts, 'a', 0, 100).over).toBe(0);
  });

  it('is empty again after the hour', async () => {
    const counts = new MemoryCounts(clock);
    for (let n = 0; n < 100; n += 1) lookup(counts, `caller ${n}`, n);
    const full = counts.bytes;
    await clock.advance(HOUR_MS);
    lookup(counts, 'a', 0);
    expect(counts.bytes).toBeLessThan(full / 50);
  });
});

describe.skipIf(NO_REDIS !== undefined)(`claims in Redis ${NO_REDIS ?? ''}`, () => {
  const CLAIM: readonly CountClaim[] = [{ count: 'numbers', limit: 3, member: 'a' }];
  const WITHOUT_MEMBER: readonly CountClaim[] = [{ count: 'numbers', limit: 3 }];
  const HASTE_MS = 30;
  let redis: RedisServer;
  let proxy: RedisProxy;
  let connection: Redis;
  let log: RecordedLog;
  let counts: SharedCounts;

  beforeEach(async () => {
    redis = await startRedis();
    proxy = await RedisProxy.before(redis.port);
    connection = connectionTo(proxy.url);
    await connection.open();
    log = new RecordedLog();
    counts = new SharedCounts(connection, new StateSeals([new Uint8Array(32)]), systemClock, log);
    await counts.read('window', [], 1000);
    return async () => {
      connection.close();
      await proxy.close();
      await redis.kill();
    };
  });

  async function counted(window = 'window'): Promise<number | undefined> {
    return (await counts.read(window, ['numbers'], 1000)).counts[0];
  }

  it('count as the memory of one process does', async () => {
    const limit = fc.integer({ min: 1, max: 4 });
    const member = fc.constantFrom('x', 'y', 'z');
    const claim = fc.record({ limit, member }, { requiredKeys: ['limit'] });
    const claims = fc.array(claim, { minLength: 1, maxLength: 2 });
    const step = fc.record({ claims, isGivenBack: fc.boolean() });
    // What comes in one tick is one script.
    const tick = fc.array(step, { minLength: 1, maxLength: 5 });
    const names = ['one', 'two'] as const;
    const memory = new MemoryCounts(systemClock);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(tick, { maxLength: 6 }), async (ticks) => {
        run += 1;
        const window = `window-${run}`;
        for (const steps of ticks) {
          const made = steps.map(({ claims: some, isGivenBack }) => {
            const asked: CountClaim[] = some.map((one, n) => ({ count: names[n] ?? '', ...one }));
            const inRedis = counts.claim(window, asked, 1000, names);
            return { inRedis, inMemory: memory.claim(window, asked), isGivenBack };
          });
          const givingBack: unknown[] = [];
          for (const { inRedis, inMemory, isGivenBack } of made) {
            const { over, counts: found, giveBack } = await inRedis;
            expect([over, found]).toEqual([inMemory.over, inMemory.counts]);
            if (!isGivenBack || over !== undefined) continue;
            givingBack.push(giveBack());
            void inMemory.giveBack();
          }
          await Promise.all(givingBack);
        }
        const scripts = proxy.scripts;
        const read = await counts.read(window, names, 1000);
        expect(read.counts).toEqual(memory.read(window, names).counts);
        expect(read.resetMs).toBeLessThanOrEqual(HOUR_MS);
        // The last script has shown them.
        expect(proxy.scripts - scripts).toBe(ticks.length === 0 ? 1 : 0);
      }),
      { numRuns: 100 },
    );
  });

  it('count once, and are given back once, though each arrives three times', async () => {
    // By then the server knows the scripts, and its time is known.
    await (await counts.claim('first', CLAIM, 1000)).giveBack();
    proxy.copiesAfterMs = [0, 100];
    for (const n of [1, 2, 3]) {
      const { over, counts: now } = await counts.claim('window', WITHOUT_MEMBER, 1000);
      expect([over, now]).toEqual([undefined, [n]]);
    }
    await expect.poll(() => proxy.copies).toBe(6);
    const other = await counts.claim('window', CLAIM, 1000);
    expect(other.over).toBe(0);
    const { giveBack } = await counts.claim('another', CLAIM, 1000);
    await counts.claim('another', WITHOUT_MEMBER, 1000);
    await giveBack();
    await expect.poll(() => proxy.copies).toBe(14);
    expect([await counted(), await counted('another')]).toEqual([3, 1]);
  });

  it.each([
    { claims: 1, scripts: 1 },
    { claims: 100, scripts: 1 },
    { claims: 250, scripts: 3 },
  ])(
    'of one turn of the event loop are one script of at most a hundred: $claims',
    async ({ claims, scripts }) => {
      const before = proxy.scripts;
      // As those of requests whose bytes are read one after the other.
      const coming = Array.from({ length: claims }, () => afterReads());
      await Promise.all(coming.map((come) => come.then(() => counts.claim('window', CLAIM, 1000))));
      expect(proxy.scripts - before).toBe(scripts);
      // Each counted its own, and all of them one member.
      expect(await counted()).toBe(1);
      expect(await command(redis.port, ['HGET', 'window', 'a'])).toBe(String(claims));
    },
  );

  it('that come while a script is under way are the next one, but for those that nobody waits for any more', async () => {
    redis.freeze();
    const before = proxy.scripts;
    const first = counts.claim('window', WITHOUT_MEMBER, 1000);
    await expect.poll(() => proxy.scripts - before).toBe(1);
    const hurried = await counts.claim('window', WITHOUT_MEMBER, HASTE_MS);
    const others = [1, 2].map(() => counts.claim('window', WITHOUT_MEMBER, 1000));
    redis.thaw();
    expect(hurried.counts).toEqual([1]);
    expect((await first).counts).toEqual([1]);
    expect((await Promise.all(others)).map((one) => one.counts)).toEqual([[2], [3]]);
    expect([proxy.scripts - before, await counted()]).toEqual([2, 3]);
  });

  it('that come within two milliseconds after a script began are the next one', async () => {
    const paced = new SharedCounts(connection, new StateSeals([new Uint8Array(32)]), clock, log);
    const claim = async () => (await paced.claim('window', WITHOUT_MEMBER, 1000)).counts;
    const before = proxy.scripts;
    expect(await claim()).toEqual([1]);
    const others = [claim()];
    await clock.advance(1);
    others.push(claim());
    await command(redis.port, ['PING']);
    expect(proxy.scripts - before).toBe(1);
    await clock.advance(1);
    expect(await Promise.all(others)).toEqual([[2], [3]]);
    expect(proxy.scripts - before).toBe(2);
  });

  it.each([{ replicas: 2 }, { replicas: 4 }])(
    'are exact over $replicas replicas, while connections are cut and scripts arrive twice',
    async ({ replicas }) => {
      const connections = Array.from({ length: replicas }, () => connectionTo(proxy.url));
      await Promise.all(connections.map((one) => one.open()));
      const seals = new StateSeals([new Uint8Array(32)]);
      const all = connections.map((one) => new SharedCounts(one, seals, systemClock, log));
      await Promise.all(all.map((one) => one.read('window', [], 1000)));
      proxy.copiesAfterMs = [0, 20];
      let scripts = 0;
      proxy.cutsAfter = () => (scripts += 1) % 7 === 0;
      const LIMIT = 150;
      const claimOne = async (n: number) => {
        const claims = [{ count: 'numbers', limit: LIMIT, member: `member ${n % 200}` }];
        const one = await all[n % replicas]?.claim('window', claims, 1000);
        // Every third of them did not leave.
        if (one?.over === undefined && n % 3 === 0) await one?.giveBack();
        return {
          isWithin: one?.over === undefined,
          isKept: one?.over === undefined && n % 3 !== 0,
          member: n % 200,
        };
      };
      const outcomes: Awaited<ReturnType<typeof claimOne>>[] = [];
      for (let round = 0; round < 10; round += 1) {
        const claims = Array.from({ length: 80 }, (_, n) => claimOne(round * 80 + n));
        outcomes.push(...(await Promise.all(claims)));
      }
      proxy.cutsAfter = () => false;
      const kept = new Set(outcomes.filter(({ isKept }) => isKept).map(({ member }) => member));
      expect(log.lines).toEqual([]);
      expect(proxy.cuts).toBeGreaterThan(5);
      expect(await command(redis.port, ['HGET', 'window', 'numbers'])).toBe(String(kept.size));
      expect(kept.size).toBeGreaterThan(LIMIT / 2);
      expect(kept.size).toBeLessThanOrEqual(LIMIT);
      for (const one of connections) one.close();
    },
    30_000,
  );

  it('count once though the reply is lost', async () => {
    let cuts = 2;
    proxy.cutsAfter = () => cuts-- > 0;
    expect((await counts.claim('window', CLAIM, 1000)).counts).toEqual([1]);
    expect([proxy.cuts, await counted()]).toEqual([2, 1]);
  });

  it('of a request that cannot wait do not mark Redis as away, and count once', async () => {
    redis.freeze();
    const hurried = await counts.claim('window', CLAIM, HASTE_MS);
    expect(hurried.counts).toEqual([1]);
    redis.thaw();
    // It was counted in this process: Redis gives it back.
    await expect.poll(() => counted()).toBe(0);
    expect((await counts.claim('window', CLAIM, 1000)).counts).toEqual([1]);
    expect(log.lines).toEqual([]);
  });

  it('that are given back after their hour do not change the next one', async () => {
    const { giveBack } = await counts.claim('window', CLAIM, 1000);
    await command(redis.port, ['PEXPIRE', 'window', '0']);
    await counts.claim('window', CLAIM, 1000);
    await giveBack();
    expect(await counted()).toBe(1);
  });

  it.each<[string, begin: () => unknown, end: () => unknown]>([
    ['full', () => setMaxMemory('1'), () => setMaxMemory('0')],
    ['frozen', () => redis.freeze(), () => redis.thaw()],
  ])(
    'are counted by each process while Redis is %s, with one line in the log, and then by all again',
    async (_, begin, end) => {
      await begin();
      for (const n of [1, 2, 3]) {
        const { counts: now } = await counts.claim('window', WITHOUT_MEMBER, 1000);
        expect(now).toEqual([n]);
      }
      expect(log.lines.map(({ message }) => message)).toEqual([COUNTED_APART]);
      await end();
      await expect
        .poll(async () => (await counts.claim('window', CLAIM, 1000)) && log.lines.at(-1)?.message)
        .toBe(COUNTED_TOGETHER);
      await counts.claim('after', CLAIM, 1000);
      expect(await command(redis.port, ['HGET', 'after', 'numbers'])).toBe('1');
    },
  );

  function setMaxMemory(bytes: string): Promise<unknown> {
    return command(redis.port, ['CONFIG', 'SET', 'maxmemory', bytes]);
  }
});
