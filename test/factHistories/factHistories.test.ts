import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inForm } from '../forms.ts';
import { HOUR_MS } from '../values.ts';
import { history, type History } from './history.ts';
import { runHistory } from './runHistory.ts';

it('no `false` of a line that was swapped passes over what was known of the swap, in any history', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (one) => {
      expect(await runHistory(one)).toMatchObject({
        wrongFalses: 0,
        withoutAnswer: 0,
        tooManyLookups: 0,
      });
    }),
    { numRuns: inForm({ short: 300, long: 20_000 }) },
  );
}, 300_000);

function longAgo(atMs: number): number {
  return Math.min(atMs, -200 * HOUR_MS);
}

/** One request after the other, about a line that changed longer ago than any margin and any delay. */
function unchanged(one: History): History {
  const { line } = one;
  return {
    ...one,
    line: {
      ...line,
      activatedAtMs: longAgo(line.activatedAtMs),
      swapsAtMs: line.swapsAtMs.map(longAgo),
    },
    asks: one.asks.map((ask) => ({ ...ask, pauseMs: 20_000, isGone: false, date: 'told' })),
  };
}

it('a line that is unchanged has at no time cost more lookups for what is kept', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (one) => {
      const kept = await runHistory(unchanged(one));
      const fresh = await runHistory(unchanged({ ...one, keepMs: 0 }));
      // In sum: what nobody has heard yet is told without a lookup, and where more is kept it has been told before.
      let saved = 0;
      for (const [index, lookups] of kept.lookups.entries()) {
        saved += (fresh.lookups[index] ?? 0) - lookups;
        expect(saved).toBeGreaterThanOrEqual(0);
      }
    }),
    { numRuns: inForm({ short: 100, long: 5000 }) },
  );
}, 300_000);
