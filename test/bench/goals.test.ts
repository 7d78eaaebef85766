import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { GOALS, isGuarded, isMet, judge, type Goal, type Verdict } from '../../bench/goals.ts';
import { goalsText, guardText } from '../../bench/report/text.ts';
import { both, EVERYTHING, rowsOf } from '../../bench/selection.ts';
import { SAMPLE_TABLE } from './sampleTable.ts';

const FOUND: Goal['found'] = {
  table: 'cost',
  case: '1 × window',
  row: 'ours',
  figure: 'cpuMicrosPerNumber',
};
const OVER_RAW: Goal['found'] = { ...FOUND, over: { row: 'raw undici', as: 'ratio' } };
const AGAINST_RAW: Goal = { says: 'against the limit', found: OVER_RAW, atMost: 2.5, guard: 3.2 };

function verdictOn(goal: Goal): Verdict {
  const [verdict] = judge([goal], [SAMPLE_TABLE]);
  if (verdict === undefined) throw new Error('Nothing was measured for it.');
  return verdict;
}

describe('a goal', () => {
  it.each([
    ['a ratio', OVER_RAW, 3],
    ['a difference', { ...FOUND, over: { row: 'raw undici', as: 'difference' } }, 150],
    ['a figure as it is', FOUND, 200],
  ] as const)('may be about %s', (_what, found, median) => {
    expect(verdictOn({ says: '', found, atMost: 1 }).measured.median).toBe(median);
  });

  it('is missed where the median is above it; the guard may let that pass', () => {
    const verdict = verdictOn(AGAINST_RAW);

    expect([isMet(verdict), isGuarded(verdict)]).toEqual([false, true]);
  });

  it('is not a verdict where nothing was measured for it', () => {
    const found = { ...FOUND, case: '2 × date' };
    expect(judge([{ ...AGAINST_RAW, found }], [SAMPLE_TABLE])).toEqual([]);
  });

  it('that is only reported is never missed', () => {
    const verdict = verdictOn({ says: 'reported', found: FOUND });

    expect(isMet(verdict)).toBe(true);
    expect(goalsText([verdict])).toMatch(/reported +200 \(200–250\) +reported$/m);
  });

  it('is printed with its bound, what was measured, and whether that is it', () => {
    const verdicts = [verdictOn(AGAINST_RAW)];

    expect(goalsText(verdicts)).toMatch(
      /against the limit +≤ 2\.50 +3\.00 \(2\.50–3\.50\) +missed$/m,
    );
    expect(guardText(verdicts)).toMatch(/against the limit +≤ 3\.20 .* met$/m);
  });

  it.each([
    ['its own row', 'cost', '1 × window', 'ours', true],
    ['the one that it is held against', 'cost', '1 × window', 'raw undici', true],
    ['the same process again', 'cost', '1 × window', 'ours again', true],
    ['no other contestant', 'cost', '1 × window', 'mercurius', false],
    ['no other case', 'cost', '100 × window', 'ours', false],
    ['no other table', 'sizes', '1 × window', 'ours', false],
  ])('selects %s, and so do two selections', (_what, table, caseName, row, isSelected) => {
    const selects = rowsOf([AGAINST_RAW]);

    expect(selects(table, caseName, row)).toBe(isSelected);
    expect(both(EVERYTHING, selects)(table, caseName, row)).toBe(isSelected);
  });
});

describe('the guard', () => {
  it('is at least the goal', () => {
    const tighter = GOALS.filter(({ atMost = 0, guard = Infinity }) => guard < atMost);

    expect(tighter.map(({ says }) => says)).toEqual([]);
  });

  it('is held by counts, bytes and ratios to the same work, not by times or other contestants', () => {
    const others = ['mercurius', 'rest data source', 'tuned Apollo', 'the hops'];
    const moving = GOALS.filter(({ guard, found: { figure, over } }) => {
      const isTime = over?.as !== 'ratio' && /Ms$|Micros/.test(figure);
      return guard !== undefined && (isTime || others.includes(over?.row ?? ''));
    });

    expect(moving.map(({ says }) => says)).toEqual([]);
  });
});

test('the results in the project have a place for the goals', () => {
  const page = new URL('../../bench/results/README.md', import.meta.url);
  const places = readFileSync(page, 'utf8').matchAll(/<!-- measured: (.+?) -->/g);
  expect(Array.from(places, ([, name]) => name)).toEqual(['goals', 'end']);
});
