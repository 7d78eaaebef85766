import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ASKERS } from '../consentHistories/history.ts';
import { inForm } from '../support/forms.ts';
import { HOUR_MS } from '../support/values.ts';
import { history, type History } from './history.ts';
import { runHistory } from './runHistory.ts';

it('in every history no `false` passes over a known swap, and no fact is too old or of another caller', async () => {
  let again = 0;
  await fc.assert(
    fc.asyncProperty(history, async (one) => {
      const { falses: _falses, lookups: _lookups, toldAgain, ...wrong } = await runHistory(one);
      again += toldAgain;
      expect(Object.entries(wrong).filter(([, count]) => count > 0)).toEqual([]);
    }),
    // `npm run long -- facts` has many more.
    { numRuns: 200 },
  );
  expect(again).toBeGreaterThan(0);
}, 300_000);

const CALM = {
  pauseMs: 20_000,
  isGone: false,
  date: 'told',
  asker: ASKERS[0],
  patienceMs: Infinity,
  fails: false,
} as const;

function longAgo(atMs: number): number {
  return Math.min(atMs, -200 * HOUR_MS);
}

/** One request after the other, about a line whose last change is older than any margin and delay. */
function unchanged(one: History): History {
  const { line } = one;
  return {
    ...one,
    line: {
      ...line,
      activatedAtMs: longAgo(line.activatedAtMs),
      swapsAtMs: line.swapsAtMs.map(longAgo),
    },
    asks: one.asks.map((ask) => ({ ...ask, ...CALM })),
  };
}

it('a line that has not changed never costs more lookups where facts are kept', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (one) => {
      const kept = await runHistory(unchanged(one));
      const fresh = await runHistory(unchanged({ ...one, keepMs: 0 }));
      // In sum: unheard facts are returned without a lookup, and where more is kept they were returned before.
      let saved = 0;
      for (const [index, lookups] of kept.lookups.entries()) {
        saved += (fresh.lookups[index] ?? 0) - lookups;
        expect(saved).toBeGreaterThanOrEqual(0);
      }
    }),
    { numRuns: inForm({ short: 40, long: 1000 }) },
  );
}, 300_000);
