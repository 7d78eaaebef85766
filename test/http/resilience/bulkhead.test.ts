import { beforeEach, describe, expect, it } from 'vitest';
import { Bulkhead } from '../../../src/http/resilience/bulkhead.ts';
import { settled, TestClock } from '../../testClock.ts';
import { LightAbortSignal } from '../../../src/http/urgency.ts';

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

  it('rejects new work when every waiter in the full queue can still make its deadline', async () => {
    const all = ['a', 'b', 'c', 'd', 'e'].map((name) => work(name));
    await clock.advance(2000);
    expect(await Promise.all(all)).toEqual(['done a', 'done b', 'done c', 'done d', 'full']);
  });

  it('drops the oldest waiter that cannot make its deadline', async () => {
    const all = [work('a'), work('b'), work('c', 500), work('d')];
    await clock.advance(600);
    all.push(work('e'));
    await clock.advance(2000);
    expect(await Promise.all(all)).toEqual(['done a', 'done b', 'late', 'done d', 'done e']);
  });

  it('does not start a waiter whose deadline has passed', async () => {
    const all = [work('a'), work('b'), work('c', 500)];
    await clock.advance(2000);
    expect(await Promise.all(all)).toEqual(['done a', 'done b', 'late']);
  });

  it('gives the place of a caller that hangs up to the next waiter', async () => {
    const hungUp = new LightAbortSignal();
    const all = [work('a'), work('b'), work('c', 10_000, hungUp), work('d')];
    await settled();
    hungUp.abort();
    await clock.advance(2000);
    expect(await Promise.all(all)).toEqual(['done a', 'done b', 'late', 'done d']);
    expect(started).toEqual(['a', 'b', 'd']);
  });
});
