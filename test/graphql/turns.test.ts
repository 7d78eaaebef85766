import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Turns } from '../../src/graphql/turns.ts';
import { Acceptance } from '../../src/system/acceptance.ts';
import { systemClock } from '../../src/system/clock.ts';
import { LightAbortSignal } from '../../src/system/urgency.ts';

type Waiting = readonly [name: string, tookMs?: number | 'aborted'];

/** Requests by name: the first letter is their caller. */
function waiting(requests: readonly Waiting[]) {
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const acceptance = new Acceptance(clock);
  const turns = new Turns(clock, acceptance);
  const begun: string[] = [];
  const take = async ([name, tookMs = 0]: Waiting): Promise<void> => {
    const signal = new LightAbortSignal();
    if (tookMs === 'aborted') signal.abort();
    await turns.take(name.slice(0, 1), { signal });
    begun.push(name);
    // A request goes on in promises and ticks of its turn.
    await new Promise<void>((resolve) => {
      process.nextTick(resolve);
    });
    if (tookMs !== 'aborted') nowMs += tookMs;
  };
  const accepted = (): void => acceptance.accepted();
  const advance = (ms: number): void => void (nowMs += ms);
  const isFree = (): boolean => turns.take('z', {}) === undefined;
  expect(isFree()).toBe(true);
  return {
    begun,
    take,
    accepted,
    isFree,
    advance,
    nowMs: () => nowMs,
    all: Promise.all(requests.map(take)),
  };
}

/** How many requests begin before each connection and after the last, where one is accepted a turn. */
async function begunWhileAccepting(connections: number, acceptMs: number, requestMs: number) {
  const many = Array.from({ length: 1000 }, (_, n): Waiting => [`a${n}`, requestMs]);
  const { begun, accepted, advance, nowMs } = waiting(many);
  const seen: number[] = [];
  for (let turn = 0; turn < connections; turn += 1) {
    accepted();
    advance(acceptMs);
    seen.push(begun.length);
    await nextTurn();
  }
  await nextTurn();
  return { seen, begun: begun.length, tookMs: nowMs() };
}

function nine(caller: string, tookMs: number): Waiting[] {
  return Array.from({ length: 9 }, (_, n) => [`${caller}${n}`, tookMs]);
}

describe('requests begin one a turn', () => {
  it('and short ones several, for a millisecond', async () => {
    const { begun, all } = waiting([...nine('a', 0.4), ...nine('b', 0.1)]);
    await nextTurn();
    // The first turn was scheduled before they came.
    expect(begun).toEqual(['a0']);
    await nextTurn();
    expect(begun.slice(1)).toEqual(['b0', 'b1', 'b2', 'b3', 'b4', 'a1', 'b5', 'b6']);
    await nextTurn();
    expect(begun.slice(9)).toEqual(['b7', 'a2', 'b8', 'a3']);
    await all;
  });

  it('and eight at most', async () => {
    const { begun, all } = waiting([...nine('a', 0.01), ...nine('b', 0.01)]);
    await nextTurn();
    await nextTurn();
    expect(begun).toHaveLength(9);
    await all;
  });

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

  it('of a caller that comes back again and again no more of the time than three quarters, where another one does too', async () => {
    const { take, nowMs, all } = waiting([]);
    const spentMs = { long: 0, short: 0 };
    const comeBack = async (caller: keyof typeof spentMs, tookMs: number): Promise<void> => {
      while (nowMs() < 1000) {
        await take([caller, tookMs]);
        spentMs[caller] += tookMs;
        // What it took counts by then.
        await nextTurn();
      }
    };
    await Promise.all([all, comeBack('long', 30), comeBack('short', 1)]);
    expect(spentMs.long).toBeLessThan(3 * spentMs.short);
  });

  const WORST_MS = 30;
  it.each([8, 64])(
    "and with %i hostile connections another caller's waits for two of the worst at most",
    async (connections) => {
      const { begun, take, nowMs, all } = waiting([]);
      const others = 50;
      const flood = { isOver: false };
      const hostile = async (): Promise<void> => {
        while (!flood.isOver) await take(['h', WORST_MS]);
      };
      const ended = Array.from({ length: connections }, hostile);
      const waitedMs: number[] = [];
      for (let other = 0; other < others; other += 1) {
        // At any point of a turn, and at its end.
        for (let step = 0; step < other % 7; step += 1) await nextTurn();
        const cameAtMs = nowMs();
        await take(['o', 1]);
        waitedMs.push(nowMs() - 1 - cameAtMs);
      }
      flood.isOver = true;
      await Promise.all([all, ...ended]);
      expect(begun.filter((name) => name === 'h').length).toBeGreaterThan(others);
      expect(Math.max(...waitedMs)).toBeLessThanOrEqual(2 * WORST_MS);
    },
  );

  it('once the connections that come at once are accepted', async () => {
    const { seen, begun } = await begunWhileAccepting(200, 0.09, 5);
    expect(seen.at(-1)).toBe(0);
    expect(begun).toBe(1);
  });

  it.each([
    [1, 5],
    [30, 5],
    [5, 30],
    [300, 5],
  ])(
    'and for half of the time while connections never end: of %d ms each, requests of %d ms',
    async (acceptMs, requestMs) => {
      const { begun, tookMs } = await begunWhileAccepting(1200, acceptMs, requestMs);
      // A turn in which a request begins accepts a connection too. They may be ahead by 20 ms, and a turn.
      const halfMs = (tookMs - 20 - acceptMs) / 2;
      expect(begun * (requestMs + acceptMs)).toBeGreaterThanOrEqual(halfMs - requestMs - acceptMs);
    },
  );
});
