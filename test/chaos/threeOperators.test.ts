import { describe, expect, it } from 'vitest';
import { inForm } from '../forms.ts';
import { runChaos, type ChaosRun, type Wrongness } from './chaos.ts';

const RUN: ChaosRun = {
  exchanges: inForm({ short: 1000, long: 10_000 }),
  maxMs: inForm({ short: 40_000, long: 120_000 }),
  seed: 1,
  flow: '2-legged',
  echoes: true,
  operators: 3,
  without: undefined,
};

const ALL: readonly { without: ChaosRun['without']; finds: keyof Wrongness }[] = [
  { without: 'longest-prefix', finds: 'numbersOfOthers' },
  { without: 'token-rule', finds: 'tokensUsedTwice' },
  { without: 'token-end', finds: 'tokensPastTheirEnd' },
  { without: 'correlator-check', finds: 'wrongAnswers' },
];
const WITHOUT_GUARDS = ALL.slice(0, inForm({ short: 1, long: ALL.length }));

const MAX_RUNS = 3;

describe('chaos over three operators', { timeout: 300_000 }, () => {
  it('finds nothing wrong, and the worse one takes nothing from the others', async () => {
    const { wrong, answeredOf } = await runChaos(RUN);

    expect(Object.entries(wrong).filter(([, count]) => count > 0)).toEqual([]);
    const { once = 0, 'any-number': worse = 0 } = Object.fromEntries(answeredOf);
    expect(once).toBeGreaterThan(worse);
  });

  it.each(WITHOUT_GUARDS)('without $without finds $finds', async ({ without, finds }) => {
    // What a sleeping guard lets through takes a chance that not every run brings.
    let found = 0;
    for (let seed = 1; seed <= MAX_RUNS && found === 0; seed += 1) {
      const { wrong } = await runChaos({ ...RUN, seed, exchanges: 40_000, without, until: finds });
      found = wrong[finds];
    }
    expect(found).toBeGreaterThan(0);
  });
});
