import { beforeEach, describe, expect, it } from 'vitest';
import { RetryBudget } from '../../../src/http/resilience/retryBudget.ts';
import { TestClock } from '../../testClock.ts';

describe('the retry budget', () => {
  let clock: TestClock;
  let budget: RetryBudget;

  beforeEach(() => {
    clock = new TestClock();
    budget = new RetryBudget(clock);
  });

  function count(exchanges: number): void {
    for (let counted = 0; counted < exchanges; counted += 1) budget.count();
  }

  function takeAll(): number {
    let taken = 0;
    while (taken < 1000 && budget.take()) taken += 1;
    return taken;
  }

  it.each([
    { exchanges: 0, retries: 10 },
    { exchanges: 100, retries: 10 },
    { exchanges: 109, retries: 10 },
    { exchanges: 110, retries: 11 },
    { exchanges: 500, retries: 50 },
    { exchanges: 100_000, retries: 100 },
  ])('holds $retries after $exchanges exchanges', ({ exchanges, retries }) => {
    count(exchanges);
    expect(takeAll()).toBe(retries);
  });

  it.each([
    [10, 10],
    [100, 10],
    [1000, 100],
    [10_000, 1000],
  ])('of %d exchanges that all fail at once, lets %d be repeated', (exchanges, retries) => {
    let taken = 0;
    for (let exchange = 0; exchange < exchanges; exchange += 1) {
      budget.count();
      if (budget.take()) taken += 1;
    }
    expect(taken).toBe(retries);
  });

  it.each([
    { ms: 5900, retries: 0 },
    { ms: 6000, retries: 1 },
    { ms: 60_000, retries: 10 },
    { ms: 3_600_000, retries: 10 },
  ])('grants $retries in $ms ms without exchanges', async ({ ms, retries }) => {
    takeAll();
    await clock.advance(ms);
    expect(takeAll()).toBe(retries);
  });

  it.each([
    { perMinute: 60, retries: 10 },
    { perMinute: 600, retries: 60 },
    { perMinute: 6000, retries: 600 },
  ])('allows about $retries a minute at $perMinute exchanges', async ({ perMinute, retries }) => {
    takeAll();
    let taken = 0;
    for (let exchange = 0; exchange < 10 * perMinute; exchange += 1) {
      budget.count();
      await clock.advance(60_000 / perMinute);
      if (budget.take()) taken += 1;
    }
    expect(taken / 10).toBeGreaterThan(0.9 * retries);
    expect(taken / 10).toBeLessThanOrEqual(1.1 * retries);
  });

  it('takes as much as is asked for or nothing', () => {
    expect(budget.take(11)).toBe(false);
    expect(budget.take(8)).toBe(true);
    expect(budget.take(3)).toBe(false);
    expect(budget.take(2)).toBe(true);
  });
});
