import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inMemory, Quotas, type QuotaStore } from '../../src/caller/quotas.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { ALICE, BOB } from '../values.ts';

const HOUR_SECONDS = 3600;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function line(n: number): PhoneNumber {
  return `+4477009${String(n).padStart(7, '0')}` as PhoneNumber;
}

function quotas(numbersPerHour: number, lookupsPerHour: number): Quotas {
  return new Quotas({ numbersPerHour, lookupsPerHour }, inMemory);
}

/** How many lookups of a scan over so many numbers may be made. */
async function scan(counted: Quotas, caller: string, numbers: number): Promise<number> {
  let made = 0;
  for (let n = 0; n < numbers; n += 1) {
    if ((await counted.count(caller, line(n))) === undefined) made += 1;
  }
  return made;
}

describe('the quota of numbers', () => {
  it('counts a number once, however often it is asked about', async () => {
    const counted = quotas(1, 100);
    const waits = await Promise.all(Array.from({ length: 50 }, () => counted.count('a', ALICE)));
    expect(waits.filter((wait) => wait !== undefined)).toEqual([]);
    expect(await counted.count('a', BOB)).toBe(HOUR_SECONDS);
  });

  it('counts a number once, when two ask at the same moment', async () => {
    const counted = quotas(3, 100);
    await Promise.all([counted.count('a', ALICE), counted.count('a', ALICE)]);
    expect(await counted.count('a', BOB)).toBeUndefined();
    expect(await counted.count('a', line(1))).toBeUndefined();
    expect(await counted.count('a', line(2))).toBe(HOUR_SECONDS);
  });

  it('is one for each caller', async () => {
    const counted = quotas(2, 100);
    expect(await scan(counted, 'a', 10)).toBe(2);
    expect(await scan(counted, 'b', 10)).toBe(2);
  });

  it('still answers about numbers that count already', async () => {
    const counted = quotas(2, 100);
    await scan(counted, 'a', 10);
    expect(await counted.count('a', line(0))).toBeUndefined();
  });

  it('starts anew after the hour, and says how long that is', async () => {
    const counted = quotas(1, 100);
    await counted.count('a', ALICE);
    vi.advanceTimersByTime(600_000);
    expect(await counted.count('a', BOB)).toBe(HOUR_SECONDS - 600);
    vi.advanceTimersByTime((HOUR_SECONDS - 600) * 1000);
    expect(await counted.count('a', BOB)).toBeUndefined();
  });

  it('counts a number again in the next hour', async () => {
    const counted = quotas(1, 100);
    await counted.count('a', ALICE);
    vi.advanceTimersByTime(HOUR_SECONDS * 1000);
    expect(await counted.count('a', ALICE)).toBeUndefined();
    expect(await counted.count('a', BOB)).toBeGreaterThan(0);
  });
});

describe('the quota of lookups', () => {
  it('ends, whatever the number', async () => {
    const counted = quotas(100, 3);
    const waits = [];
    for (let n = 0; n < 5; n += 1) waits.push(await counted.count('a', ALICE));
    expect(waits).toEqual([undefined, undefined, undefined, HOUR_SECONDS, HOUR_SECONDS]);
  });

  it('is not spent on numbers that are refused', async () => {
    const counted = quotas(1, 2);
    await scan(counted, 'a', 10);
    expect(await counted.count('a', line(0))).toBeUndefined();
    expect(await counted.count('a', line(0))).toBe(HOUR_SECONDS);
  });
});

describe('a scan of a million numbers', () => {
  it('costs its caller’s quota and no more', async () => {
    expect(await scan(quotas(10_000, 5_000), 'a', 1_000_000)).toBe(5_000);
  }, 120_000);

  it('costs one quota over several processes that share a store', async () => {
    const shared = new Map<string, ReturnType<QuotaStore['createLimiter']>>();
    const store: QuotaStore = {
      ...inMemory,
      createLimiter: (options) => {
        const name = String(options.keyPrefix);
        const limiter = shared.get(name) ?? inMemory.createLimiter(options);
        shared.set(name, limiter);
        return limiter;
      },
    };
    const limits = { numbersPerHour: 100, lookupsPerHour: 150 };
    const replicas = Array.from({ length: 3 }, () => new Quotas(limits, store));
    const made = await Promise.all(replicas.map((one) => scan(one, 'a', 1000)));
    expect(made.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(150);
  });
});
