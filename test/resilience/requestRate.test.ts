import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  mayBeginAtMs,
  rateLimitOf,
  RequestRate,
  type RateLimit,
  type Turn,
} from '../../src/resilience/requestRate.ts';
import type { ExchangeKind } from '../../src/resilience/retries.ts';
import { settled, TestClock } from '../support/testClock.ts';
import { LightAbortSignal } from '../../src/system/urgency.ts';

describe('the limit of a contract', () => {
  it.each<[number, RateLimit]>([
    [5, { exchanges: 5, spanMs: 1000 }],
    [0.5, { exchanges: 1, spanMs: 2000 }],
    [2.5, { exchanges: 2, spanMs: 800 }],
  ])('%d a second is %j', (requestsPerSecond, limit) => {
    expect(rateLimitOf(requestsPerSecond)).toEqual(limit);
  });
});

it.each([
  [[], 0, 0],
  [[], 1, 0],
  [[], 2, 1000],
  [[500], 0, 0],
  [[500], 1, 500],
  [[500, 900], 0, 500],
  [[500, 900], 1, 900],
  [[500, 900], 2, 1500],
  [[500, 900], 5, 2900],
])('two a second, begun at %j, with %d before it: in %d ms', (begunAtMs, ahead, inMs) => {
  const limit = { exchanges: 2, spanMs: 1000 };
  expect(mayBeginAtMs(limit, begunAtMs, ahead, 1000)).toBe(1000 + inMs);
});

const NOW = undefined;

/** A rate on a test clock, and the order in which its turns ended. */
class TestRate {
  readonly clock = new TestClock();
  readonly ended: string[] = [];
  readonly begunAtMs: number[] = [];
  readonly rate: RequestRate;

  constructor(requestsPerSecond: number) {
    this.rate = new RequestRate(requestsPerSecond, this.clock);
  }

  async turn(
    name: string,
    kind: ExchangeKind = 'lookup',
    inMs = 10_000,
    signal?: LightAbortSignal,
  ): Promise<Turn> {
    const deadlineMs = this.clock.monotonicMs() + inMs;
    const turn = await this.rate.turn(kind, { deadlineMs, signal });
    if (turn === NOW) this.begunAtMs.push(this.clock.monotonicMs());
    this.ended.push(`${name}: ${turn ?? 'now'}`);
    return turn;
  }
}

describe('the rate of an operator', () => {
  it('lets as many begin at once as the contract allows, and the next a second later', async () => {
    const test = new TestRate(2);
    const turns = ['a', 'b', 'c'].map((name) => test.turn(name));
    await settled();
    expect(test.ended).toEqual(['a: now', 'b: now']);
    await test.clock.advance(999);
    expect(test.ended).toHaveLength(2);
    await test.clock.advance(1);
    expect(await Promise.all(turns)).toEqual([NOW, NOW, NOW]);
  });

  it('refuses at once what cannot begin before its deadline, with the seconds to wait', async () => {
    const test = new TestRate(1);
    expect(await test.turn('first')).toEqual(NOW);
    const waiting = test.turn('second', 'lookup', 1001);
    expect(await test.turn('third', 'lookup', 1500)).toEqual(2);
    expect(await test.turn('fourth', 'lookup', 1000)).toEqual(2);
    await test.clock.advance(1000);
    expect(await waiting).toEqual(NOW);
    await test.clock.advance(1000);
    expect(await test.turn('fifth')).toEqual(NOW);
  });

  it('serves lookups first and new consents last', async () => {
    const test = new TestRate(1);
    await test.turn('begun');
    const kinds: ExchangeKind[] = [
      'lookup',
      'token-poll',
      'client-credentials',
      'backchannel-authentication',
    ];
    const turns = kinds.toReversed().map((kind) => test.turn(kind, kind));
    await test.clock.advance(4000);
    await Promise.all(turns);
    expect(test.ended).toEqual(['begun', ...kinds].map((name) => `${name}: now`));
  });

  it('refuses at its deadline what others have overtaken', async () => {
    const test = new TestRate(1);
    await test.turn('begun');
    const prompt = test.turn('prompt', 'backchannel-authentication', 1500);
    const lookups = [test.turn('lookup'), test.turn('lookup')];
    await test.clock.advance(1500);
    expect(await prompt).toEqual(2);
    await test.clock.advance(1000);
    expect(await Promise.all(lookups)).toEqual([NOW, NOW]);
  });

  it('drops a request that ends while it waits', async () => {
    const test = new TestRate(1);
    await test.turn('begun');
    const request = new LightAbortSignal();
    const gone = test.turn('gone', 'lookup', 10_000, request);
    const waiting = test.turn('waiting');
    await settled();
    request.abort();
    expect(await gone).toEqual(2);
    await test.clock.advance(1000);
    expect(await waiting).toEqual(NOW);
    expect(await test.turn('aborted', 'lookup', 10_000, request)).toEqual(1);
  });

  it('is never exceeded, and each turn ends by its deadline', async () => {
    const asks = fc.record({
      kind: fc.constantFrom<ExchangeKind>('lookup', 'token-poll', 'backchannel-authentication'),
      afterMs: fc.nat(900),
      inMs: fc.integer({ min: 1, max: 4000 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(0.5, 1, 2, 3.5, 7),
        fc.array(asks, { minLength: 1, maxLength: 25 }),
        async (requestsPerSecond, all) => {
          const test = new TestRate(requestsPerSecond);
          const { exchanges, spanMs } = rateLimitOf(requestsPerSecond);
          const overtime: number[] = [];
          for (const { kind, afterMs, inMs } of all) {
            await test.clock.advance(afterMs);
            const deadlineMs = test.clock.monotonicMs() + inMs;
            void test
              .turn('one', kind, inMs)
              .finally(() => overtime.push(test.clock.monotonicMs() - deadlineMs));
          }
          await test.clock.advance(5000);
          expect(overtime).toHaveLength(all.length);
          expect(overtime.filter((ms) => ms > 0)).toEqual([]);
          const tooSoon = test.begunAtMs.filter((atMs, index) => {
            const before = test.begunAtMs[index - exchanges];
            return before !== undefined && atMs - before < spanMs - 1e-6;
          });
          expect(tooSoon).toEqual([]);
          expect(test.clock.sleepers).toBe(0);
        },
      ),
      { numRuns: 50 },
    );
  });
});
