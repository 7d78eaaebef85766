import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Claim } from '../../../src/caller/quotas/hourlyCounts.ts';
import { MemoryCounts } from '../../../src/caller/quotas/memoryCounts.ts';
import { SharedCounts } from '../../../src/caller/quotas/sharedCounts.ts';
import { systemClock } from '../../../src/systemClock.ts';
import type { RedisConnection } from '../../../src/sharedState/redisConnection.ts';
import { StateSeals } from '../../../src/sharedState/stateSeals.ts';
import { connectionTo, NO_REDIS, startRedis, type RedisServer } from '../../redisServer.ts';
import { TestClock } from '../../testClock.ts';
import { silentLog } from '../../silentLog.ts';

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
  it('is bounded in bytes, whatever callers call themselves and however many they are', () => {
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

describe.skipIf(NO_REDIS !== undefined)(`Redis ${NO_REDIS ?? ''}`, () => {
  let redis: RedisServer;
  let connection: RedisConnection;

  beforeAll(async () => {
    redis = await startRedis();
    connection = connectionTo(redis.url);
    await connection.open();
  });
  afterAll(async () => {
    connection.close();
    await redis.kill();
  });

  it('counts as the memory of one process does', async () => {
    const claim = fc.oneof(
      fc.record({ limit: fc.integer({ min: 1, max: 4 }) }),
      fc.record({
        limit: fc.integer({ min: 1, max: 4 }),
        member: fc.constantFrom('x', 'y', 'z'),
      }),
    );
    const step = fc.record({
      claims: fc.array(claim, { minLength: 1, maxLength: 2 }),
      isGivenBack: fc.boolean(),
    });
    const names = ['one', 'two'] as const;
    const memory = new MemoryCounts(systemClock);
    const shared = new SharedCounts(
      connection,
      new StateSeals([new Uint8Array(32)]),
      systemClock,
      silentLog,
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
        run += 1;
        const window = `window-${run}`;
        for (const { claims, isGivenBack } of steps) {
          const asked: Claim[] = claims.map((one, n) => ({ count: names[n] ?? '', ...one }));
          const inRedis = await shared.claim(window, asked, 1000);
          const inMemory = memory.claim(window, asked);
          expect([inRedis.over, inRedis.counts]).toEqual([inMemory.over, inMemory.counts]);
          if (!isGivenBack || inMemory.over !== undefined) continue;
          await inRedis.giveBack();
          void inMemory.giveBack();
        }
        const read = await shared.read(window, names, 1000);
        expect(read.counts).toEqual(memory.read(window, names).counts);
        expect(read.resetMs).toBeLessThanOrEqual(HOUR_MS);
      }),
      { numRuns: 100 },
    );
  });
});
