import { describe, expect, it } from 'vitest';
import { GOALS, isGuarded, isMet, judge, type Goal } from '../../bench/goals.ts';
import { goalsText, guardText } from '../../bench/report/text.ts';
import { SAMPLE_TABLE } from './sampleTable.ts';

const FOUND: Goal['found'] = {
  table: 'cost',
  case: '1 × window',
  row: 'ours',
  figure: 'cpuMicrosPerNumber',
};
const AGAINST_RAW: Goal = {
  says: 'against the limit',
  found: { ...FOUND, over: { row: 'raw undici', as: 'ratio' } },
  atMost: 2.5,
  guard: 3.2,
};

describe('a goal', () => {
  it.each([
    ['a ratio', { ...FOUND, over: { row: 'raw undici', as: 'ratio' } }, 3],
    ['a difference', { ...FOUND, over: { row: 'raw undici', as: 'difference' } }, 150],
    ['a figure as it is', FOUND, 200],
  ] as const)('may be about %s', (_what, found, median) => {
    const [verdict] = judge([{ says: '', found, atMost: 1 }], [SAMPLE_TABLE]);

    expect(verdict?.measured.median).toBe(median);
  });

  it('is missed where the median is above it; the guard may let that pass', () => {
    const [verdict] = judge([AGAINST_RAW], [SAMPLE_TABLE]);

    expect(verdict && isMet(verdict)).toBe(false);
    expect(verdict && isGuarded(verdict)).toBe(true);
  });

  it('is not a verdict where nothing was measured for it', () => {
    expect(
      judge([{ ...AGAINST_RAW, found: { ...FOUND, case: '2 × date' } }], [SAMPLE_TABLE]),
    ).toEqual([]);
  });

  it('that is only reported is never missed', () => {
    const [verdict] = judge([{ says: 'reported', found: FOUND }], [SAMPLE_TABLE]);

    expect(verdict && isMet(verdict)).toBe(true);
    expect(goalsText(verdict ? [verdict] : [])).toMatch(/reported +200 \(200–250\) +reported$/m);
  });

  it('is printed with its bound, what was measured, and whether that is it', () => {
    const verdicts = judge([AGAINST_RAW], [SAMPLE_TABLE]);

    expect(goalsText(verdicts)).toMatch(
      /against the limit +≤ 2\.50 +3\.00 \(2\.50–3\.50\) +missed$/m,
    );
    expect(guardText(verdicts)).toMatch(/against the limit +≤ 3\.20 .* met$/m);
  });
});

it('every bound of the guard is at least the goal', () => {
  const tighter = GOALS.filter(({ atMost = 0, guard = Infinity }) => guard < atMost);

  expect(tighter.map(({ says }) => says)).toEqual([]);
});
