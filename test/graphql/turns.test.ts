import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Turns } from '../../src/graphql/turns.ts';
import { systemClock } from '../../src/system/clock.ts';
import { LightAbortSignal } from '../../src/system/urgency.ts';

type Waiting = readonly [name: string, tookMs?: number | 'aborted', timeLeftMs?: number];

/** Requests by name: the first letter is their caller. */
function waiting(requests: readonly Waiting[]) {
  let nowMs = 0;
  const turns = new Turns({ ...systemClock, monotonicMs: () => nowMs });
  const begun: string[] = [];
  const refused: string[] = [];
  const take = async ([name, tookMs = 0, timeLeftMs = Infinity]: Waiting): Promise<void> => {
    const signal = new LightAbortSignal();
    if (tookMs === 'aborted') signal.abort();
    const deadlineMs = nowMs + timeLeftMs;
    const retryAfterSeconds = await turns.take(name.slice(0, 1), { deadlineMs, signal });
    if (retryAfterSeconds !== undefined) {
      refused.push(`${name} ${retryAfterSeconds}`);
      return;
    }
    begun.push(name);
    // A request goes on in promises and ticks of its turn.
    await new Promise<void>((resolve) => {
      process.nextTick(resolve);
    });
    if (tookMs !== 'aborted') nowMs += tookMs;
  };
  const accepted = (): void => turns.accepted();
  const isFree = (): boolean => turns.take('z', { deadlineMs: Infinity }) === undefined;
  expect(isFree()).toBe(true);
  return { begun, refused, take, accepted, isFree, all: Promise.all(requests.map(take)) };
}

describe('requests begin one a turn', () => {
  it('of the callers that wait one after the other, without those that have ended', async () => {
    const { begun, isFree, all } = waiting([
      ['a1'],
      ['a2'],
      ['a3'],
      ['b1', 'aborted'],
      ['b2'],
      ['c1'],
    ]);
    await nextTurn();
    expect(begun).toEqual(['a1']);
    await all;
    expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    await nextTurn();
    await nextTurn();
    expect(isFree()).toBe(true);
  });

  it('of the caller whose turns took the least time, also when it comes back', async () => {
    const { begun, take, all } = waiting([
      ['a1', 50],
      ['a2', 50],
      ['a3', 50],
      ['b1', 20],
      ['b2', 20],
      ['b3', 20],
      ['b4', 20],
      ['c1', 10],
    ]);
    await nextTurn();
    const later = [take(['d1', 65]), take(['d2', 65])];
    await Promise.all([all, ...later]);
    expect(begun).toEqual(['a1', 'b1', 'c1', 'd1', 'b2', 'b3', 'a2', 'b4', 'd2', 'a3']);
  });

  it('of a caller that comes back, while there are always some that come for the first time', async () => {
    const { take, all } = waiting([['p1', 5]]);
    let newcomers = 0;
    const crowd = async (): Promise<void> => {
      while (newcomers < 300) {
        newcomers += 1;
        await take([String.fromCodePoint(0x4e00 + newcomers), 1]);
      }
    };
    const crowds = Promise.all(Array.from({ length: 6 }, crowd));
    await all;
    await take(['p2']);
    // It had five times the time of each of six.
    expect(newcomers).toBeLessThan(60);
    await crowds;
  });

  // By how many connections are accepted, one a turn.
  it.each([
    [0, [1, 2, 2, 2, 2, 2]],
    [2, [1, 1, 1, 2, 2, 2]],
    [100, [1, 1, 1, 1, 2, 2]],
  ])('and after a long one connections first: %i', async (connections, expected) => {
    const { begun, accepted, all } = waiting([
      ['a1', 3],
      ['b1', 0],
    ]);
    const seen: number[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      await nextTurn();
      seen.push(begun.length);
      if (turn < connections) accepted();
    }
    await all;
    expect(seen).toEqual(expected);
  });

  it('or are refused, where they would wait for more than half of their time as turns pass now', async () => {
    const crowd = Array.from({ length: 100 }, (_, n): Waiting => [`a${n}`, 200, 10_000]);
    const { begun, refused, take, all } = waiting([...crowd, ['b0', 0, 10_000]]);
    while (begun.length < 12) await nextTurn();
    // Not before it is known how turns pass.
    expect(refused.slice(0, 1)).toEqual(['a99 6']);
    expect(begun.slice(0, 2)).toEqual(['a0', 'b0']);
    await take(['c0', 0, 200]);
    expect(refused).toContain('c0 1');
    await all;
    expect(begun.length + refused.length).toBe(102);
    expect(begun.length).toBeGreaterThan(20);
    expect(begun.length).toBeLessThanOrEqual(26);
  });

  it('or are refused in their turn, where half of their time is over by then', async () => {
    const { begun, refused, all } = waiting([
      ['a0', 6000],
      ['b0', 0, 10_000],
      ['b1', 0, 20_000],
    ]);
    await all;
    expect(begun).toEqual(['a0', 'b1']);
    expect(refused).toEqual(['b0 1']);
  });
});
