import { describe, expect, it } from 'vitest';
import { GOALS, type Goal } from '../../bench/goals.ts';
import { both, EVERYTHING, rowsOf } from '../../bench/selection.ts';

const GOAL: Goal = {
  says: 'against the limit',
  found: {
    table: 'cost',
    case: '1 × window',
    row: 'ours',
    figure: 'cpuMicrosPerNumber',
    over: { row: 'raw undici', as: 'ratio' },
  },
};

describe('the rows of a goal', () => {
  const selects = rowsOf([GOAL]);

  it.each([
    ['its own', 'cost', '1 × window', 'ours', true],
    ['the one that it is held against', 'cost', '1 × window', 'raw undici', true],
    ['the same process again', 'cost', '1 × window', 'ours again', true],
    ['no other contestant', 'cost', '1 × window', 'mercurius', false],
    ['no other case', 'cost', '100 × window', 'ours', false],
    ['no other table', 'sizes', '1 × window', 'ours', false],
  ])('%s', (_what, table, caseName, row, isSelected) => {
    expect(selects(table, caseName, row)).toBe(isSelected);
  });
});

it('two selections select what both do', () => {
  const selects = both(EVERYTHING, rowsOf([GOAL]));

  expect(selects('cost', '1 × window', 'ours')).toBe(true);
  expect(selects('cost', '10 × window', 'ours')).toBe(false);
});

const OTHERS = ['mercurius', 'rest data source', 'tuned Apollo', 'the hops'];
const isTime = ({ found: { figure, over } }: Goal): boolean =>
  over?.as !== 'ratio' && /Ms$|Micros/.test(figure);

it('the guard is held by counts, bytes and ratios to the same work, not by times or other contestants', () => {
  const moving = GOALS.filter(
    (goal) =>
      goal.guard !== undefined && (isTime(goal) || OTHERS.includes(goal.found.over?.row ?? '')),
  );

  expect(moving.map(({ says }) => says)).toEqual([]);
});
