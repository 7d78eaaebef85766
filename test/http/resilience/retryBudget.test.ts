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

  function takeAll(): number {
    let taken = 0;
    while (taken < 1000 && budget.take()) taken += 1;
    return taken;
  }

  it.each([
    { exchanges: 0, retries: 10 },
    { exchanges: 50, retries: 10 },
    { exchanges: 100, retries: 10 },
    { exchanges: 500, retries: 50 },
    { exchanges: 1009, retries: 100 },
  ])('allows $retries retries after $exchanges exchanges in a minute', ({ exchanges, retries }) => {
    for (let count = 0; count < exchanges; count += 1) budget.count();
    expect(takeAll()).toBe(retries);
  });

  it('forgets after a minute what was taken and what was counted', async () => {
    for (let count = 0; count < 500; count += 1) budget.count();
    expect(takeAll()).toBe(50);
    await clock.advance(59_000);
    expect(takeAll()).toBe(0);
    await clock.advance(1000);
    expect(takeAll()).toBe(10);
  });
});
