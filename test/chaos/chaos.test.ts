import { describe, expect, it } from 'vitest';
import { inForm, IS_LONG } from '../support/forms.ts';
import { runChaos, type ChaosRun, type Wrongness } from './chaos.ts';
import type { Fault } from './chaosOperator.ts';

const RUN: ChaosRun = {
  exchanges: 200,
  maxMs: 40_000,
  seed: 1,
  flow: '2-legged',
  echoes: true,
  without: undefined,
};

const BY_TOKEN: Partial<ChaosRun> = { echoes: false, onMismatch: 'answers by the token' };

const THREE: Partial<ChaosRun> = { operators: 3, exchanges: 40_000 };

interface WithoutGuard {
  readonly guard: ChaosRun['without'];
  readonly finds: keyof Wrongness;
  /** The only fault, so that a short run meets it for certain. */
  readonly against?: Fault;
  readonly run?: Partial<ChaosRun>;
}

/** The short form has only the first. */
const ALL: readonly WithoutGuard[] = [
  { guard: 'correlator-check', finds: 'wrongAnswers', against: "another's reply" },
  { guard: 'strict-types', finds: 'falseForUnknown', against: 'answers nonsense' },
  { guard: 'doubt-rule', finds: 'tokensUsedTwice', against: 'reset after' },
  {
    guard: 'doubt-rule',
    finds: 'promptsWhileOneLived',
    against: 'reset after',
    run: { flow: '3-legged' },
  },
  { guard: 'longest-prefix', finds: 'numbersOfOthers', run: THREE },
  { guard: 'fresh-connections', finds: 'wrongAnswers', against: 'surplus reply', run: BY_TOKEN },
  { guard: 'date-checks', finds: 'wrongAnswers', against: 'answers nonsense' },
  { guard: 'date-margin', finds: 'wrongAnswers' },
  { guard: 'fact-age', finds: 'falseForUnknown' },
  { guard: 'time-limit', finds: 'withoutAnEnd', against: 'never answers' },
  { guard: 'token-rule', finds: 'tokensUsedTwice', run: THREE },
  { guard: 'token-end', finds: 'tokensPastTheirEnd', run: THREE },
];
const MAX_RUNS = 5;
const WITHOUT_GUARDS = ALL.slice(0, inForm({ short: 1, long: ALL.length }));

describe('chaos', { timeout: 300_000 }, () => {
  // Both flows among them. `npm run long -- chaos` has every stretch, and a hundred times as many exchanges.
  it.skipIf(IS_LONG).each<[string, Partial<ChaosRun>]>([
    ['nothing echoed, answered by the token', BY_TOKEN],
    ['three operators', { operators: 3, exchanges: 2 * RUN.exchanges }],
  ])('finds nothing wrong: %s', async (_, run) => {
    const { wrong, answers, answeredOf } = await runChaos({ ...RUN, ...run });
    expect(Object.entries(wrong).filter(([, count]) => count > 0)).toEqual([]);
    expect(answers).toBeGreaterThan(0);
    // The worst of three operators takes nobody's answers away. How many, `npm run long -- chaos` prints.
    expect([...answeredOf].filter(([, share]) => share === 0)).toEqual([]);
  });

  it.each(WITHOUT_GUARDS)('without $guard finds $finds', async ({ guard, finds, against, run }) => {
    let found = 0;
    // Which reply meets which request depends on the machine: another seed meets what one missed.
    for (let seed = 1; seed <= MAX_RUNS && found === 0; seed += 1) {
      const { wrong } = await runChaos({
        ...RUN,
        seed,
        exchanges: 8000,
        ...(against === undefined ? {} : { onlyFault: against }),
        ...run,
        without: guard,
        until: finds,
      });
      found = wrong[finds];
    }
    expect(found).toBeGreaterThan(0);
  });
});
