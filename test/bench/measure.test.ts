import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { GOALS, isGuarded, isMet, judge, type Goal, type Verdict } from '../../bench/goals.ts';
import { refuseUnlike } from '../../bench/measure/answers.ts';
import { interleave } from '../../bench/measure/interleave.ts';
import { differences, quantile, ratios, spreadOf } from '../../bench/measure/statistics.ts';
import { goalsText } from '../../bench/report/text.ts';
import { ratioOf, rowOf, type Table } from '../../bench/tables/table.ts';

/** Three rounds of ours, twice, and of the limit. */
const SAMPLE_TABLE: Table = {
  name: 'cost',
  title: 'CPU time',
  shows: ['cpuMicrosPerNumber'],
  comparisons: [
    { figure: 'cpuMicrosPerNumber', against: 'raw undici' },
    { figure: 'cpuMicrosPerNumber', against: 'ours' },
  ],
  rows: [
    { case: '1 × window', name: 'raw undici', rounds: { cpuMicrosPerNumber: [100, 50, 100] } },
    { case: '1 × window', name: 'ours', rounds: { cpuMicrosPerNumber: [300, 200, 200] } },
    { case: '1 × window', name: 'ours again', rounds: { cpuMicrosPerNumber: [330, 200, 180] } },
    { case: '10 × window', name: 'ours', rounds: { cpuMicrosPerNumber: [120, 120, 120] } },
  ],
};

describe('an answer counts', () => {
  const phoneNumbers = [{ date: null }, { date: null }];
  const failed = (...codes: string[]) =>
    JSON.stringify({
      data: { phoneNumbers },
      errors: codes.map((code) => ({ extensions: { code } })),
    });
  const WHOLE = '{"data":{"phoneNumbers":[{"date":"2026-01-01"},{"date":"2026-01-02"}]}}';
  const FAILED = failed('NUMBER_NOT_SERVED', 'NUMBER_NOT_SERVED');
  const BROKEN = failed('OPERATOR_TIMEOUT', 'NUMBER_NOT_SERVED');

  it.each([
    ['every field of every number is there', 'whole', WHOLE, FAILED],
    ['it is of as many numbers', 'whole', WHOLE, WHOLE.replace(',{"date":"2026-01-02"}', '')],
    ['it is there at all', 'whole', WHOLE, '{"data":null}'],
    ['every number failed as it should, where failures are measured', 'failed', FAILED, WHOLE],
    ['no number failed in another way', 'failed', FAILED, BROKEN],
  ] as const)('when %s', (_, kind, counts, does) => {
    const refuse = (answer: string) => () => refuseUnlike(kind, 'ours', answer, { numbers: 2 });
    expect(refuse(counts)).not.toThrow();
    expect(refuse(does)).toThrow(/^ours did not/);
  });
});

describe('rounds', () => {
  it('are taken in turns, begun by another each time, and the first is thrown away', async () => {
    const order: string[] = [];
    const entrant = (name: string) => ({
      name,
      round: () => Promise.resolve(order.push(name)),
    });

    const figures = await interleave([entrant('a'), entrant('b')], 2);

    expect(order.join('')).toBe('abbaab');
    expect(figures.get('a')).toEqual([4, 5]);
    expect(figures.get('b')).toEqual([3, 6]);
  });
});

describe('figures', () => {
  it('have a median and quartiles, in whatever order the rounds came', () => {
    expect(spreadOf([5, 1, 4, 2, 3])).toEqual({ median: 3, low: 2, high: 4 });
  });

  it('have quantiles between two of them in proportion, and none where there are no rounds', () => {
    expect(quantile([10, 20], 0.5)).toBe(15);
    expect(quantile([7], 0.99)).toBe(7);
    expect(quantile([], 0.5)).toBeNaN();
  });

  it('are held against the same round of the base', () => {
    expect(ratios([2, 9], [1, 3])).toEqual([2, 3]);
    expect(differences([2, 9], [1, 3])).toEqual([1, 6]);
    expect(ratios([2], [])).toEqual([Number.NaN]);
  });
});

describe('a table', () => {
  it.each([
    // 3, 4, 2: the ratio of the medians would be 2.
    ['takes ratios within a round, then their median', '1 × window', 3],
    ['has no ratio where the other was not measured in that case', '10 × window', undefined],
  ])('%s', (_, name, median) => {
    const ours = rowOf(SAMPLE_TABLE, name, 'ours');
    const comparison = { figure: 'cpuMicrosPerNumber', against: 'raw undici' } as const;

    expect(ours && ratioOf(SAMPLE_TABLE, ours, comparison)?.median).toBe(median);
  });
});

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
