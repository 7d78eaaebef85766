import { beforeEach, describe, expect, it } from 'vitest';
import { Bulkhead } from '../../src/resilience/bulkhead.ts';
import { settled, TestClock } from '../support/testClock.ts';
import { LightAbortSignal } from '../../src/system/urgency.ts';

const crowded = (retryAfterSeconds: number) => ({
  code: 'UNAVAILABLE',
  reach: 'number',
  retryAfterSeconds,
});

describe('the bulkhead', () => {
  let clock: TestClock;
  let bulkhead: Bulkhead;
  let started: string[];

  beforeEach(() => {
    clock = new TestClock();
    bulkhead = new Bulkhead({ permits: 2, queue: 2 }, clock);
    started = [];
  });

  async function work(name: string, timeLeftMs = 10_000, signal?: LightAbortSignal) {
    const deadlineMs = clock.monotonicMs() + timeLeftMs;
    const permit = await bulkhead.acquire({ deadlineMs, signal });
    if (permit !== 'acquired') return permit;
    const acquiredAtMs = clock.monotonicMs();
    started.push(name);
    await clock.sleep(1000);
    bulkhead.release(acquiredAtMs);
    return `done ${name}`;
  }

  it('runs as much at a time as it has permits, in order of arrival', async () => {
    const all = ['a', 'b', 'c', 'd'].map((name) => work(name));
    await settled();
    expect(started).toEqual(['a', 'b']);
    await clock.advance(1000);
    expect(started).toEqual(['a', 'b', 'c', 'd']);
    await clock.advance(1000);
    expect(await Promise.all(all)).toEqual(['done a', 'done b', 'done c', 'done d']);
  });

  it('rejects work beyond its queue', async () => {
    const all = ['a', 'b', 'c', 'd', 'e'].map((name) => work(name));
    await clock.advance(2000);
    expect(await Promise.all(all)).toEqual(['done a', 'done b', 'done c', 'done d', crowded(1)]);
  });

  it('rejects at once what could not be done by its deadline, as work takes now', async () => {
    bulkhead = new Bulkhead({ permits: 2, queue: 100 }, clock);
    const first = [work('a'), work('b')];
    await clock.advance(1000);
    expect(await Promise.all(first)).toEqual(['done a', 'done b']);
    const others = [work('c'), work('d'), work('e', 2000), work('f', 2000)];
    // The third in the queue, with two at a time: the work before it may take a quarter of what work took before it waited.
    const refused = [work('g', 1200), work('h', 200)];
    await settled();
    expect(bulkhead.load).toEqual({ underWay: 2, waiting: 2 });
    expect(await Promise.all(refused)).toEqual([crowded(1), crowded(2)]);
    await clock.advance(2000);
    expect(await Promise.all(others)).toEqual(['done c', 'done d', 'done e', 'done f']);
  });

  it('rejects the end of a crowd bit by bit, as it knows better what its work takes', async () => {
    bulkhead = new Bulkhead({ permits: 2, queue: 10_000 }, clock);
    const all = Array.from({ length: 8000 }, (_, n) => work(String(n)));
    await clock.advance(1000);
    // Nine seconds are left, for twice as many as could be done if each took as long as the first.
    expect(bulkhead.load).toEqual({ underWay: 2, waiting: 33 });
    expect(await all.at(-1)).toEqual(crowded(1492));
    await clock.advance(3000);
    // Six seconds are left, and a fifth of them is to spare.
    expect(bulkhead.load).toEqual({ underWay: 2, waiting: 8 });
    await clock.advance(6000);
    const done = (await Promise.all(all)).filter((end) => typeof end === 'string');
    expect(done).toHaveLength(18);
  });

  it('does not start a waiter whose deadline has passed', async () => {
    const all = [work('a'), work('b'), work('c', 500)];
    await clock.advance(2000);
    expect(await Promise.all(all)).toEqual(['done a', 'done b', crowded(2)]);
  });

  it('gives the place of a caller that hangs up to the next waiter', async () => {
    const hungUp = new LightAbortSignal();
    const all = [work('a'), work('b'), work('c', 10_000, hungUp), work('d')];
    await settled();
    hungUp.abort();
    await clock.advance(2000);
    expect(await Promise.all(all)).toEqual(['done a', 'done b', crowded(1), 'done d']);
    expect(started).toEqual(['a', 'b', 'd']);
  });
});
