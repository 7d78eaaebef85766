import { describe, expect, it } from 'vitest';
import { START_MS, TestClock } from './testClock.ts';

describe('the clock of the tests', () => {
  it('moves both of its times only by hand', async () => {
    const clock = new TestClock();
    const startedAtMs = clock.monotonicMs();
    await clock.advance(1_500);
    expect(clock.nowMs()).toBe(START_MS + 1_500);
    expect(clock.monotonicMs()).toBe(startedAtMs + 1_500);
  });

  it('sets the wall clock back without a step back in monotonic time', () => {
    const clock = new TestClock();
    const startedAtMs = clock.monotonicMs();
    clock.setWall(START_MS - 60_000);
    expect(clock.nowMs()).toBe(START_MS - 60_000);
    expect(clock.monotonicMs()).toBe(startedAtMs);
  });

  it('wakes sleepers in the order of their times, each at its own', async () => {
    const clock = new TestClock();
    const startedAtMs = clock.monotonicMs();
    const woken: [string, number][] = [];
    const sleepTwice = async (name: string, ms: number): Promise<void> => {
      for (const round of [1, 2]) {
        await clock.sleep(ms);
        woken.push([`${name} ${round}`, clock.monotonicMs() - startedAtMs]);
      }
    };
    void sleepTwice('long', 300);
    void sleepTwice('short', 200);
    await clock.advance(599);
    expect(woken).toEqual([
      ['short 1', 200],
      ['long 1', 300],
      ['short 2', 400],
    ]);
    expect(clock.sleepers).toBe(1);
  });

  it('rejects a sleep with the reason of its signal', async () => {
    const clock = new TestClock();
    const controller = new AbortController();
    const sleeping = clock.sleep(1_000, controller.signal);
    controller.abort(new Error('hung up'));
    await expect(sleeping).rejects.toThrow('hung up');
    await expect(clock.sleep(1_000, controller.signal)).rejects.toThrow('hung up');
    expect(clock.sleepers).toBe(0);
  });
});
