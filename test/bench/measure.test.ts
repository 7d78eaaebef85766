import { describe, expect, it } from 'vitest';
import { refuseUnlike } from '../../bench/measure/answers.ts';
import { interleave, renamed } from '../../bench/measure/interleave.ts';
import { differences, quantile, ratios, spreadOf } from '../../bench/measure/statistics.ts';
import { noiseOf, ratioOf, roundsOf, rowOf } from '../../bench/tables/table.ts';
import { bodyOf, nameOf, numbersOf, type Workload } from '../../bench/workload.ts';
import { SAMPLE_TABLE } from './sampleTable.ts';

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

  it('measure the same thing under another name', async () => {
    const again = renamed({ name: 'ours', round: () => Promise.resolve(7) }, 'ours again');

    expect([again.name, await again.round()]).toEqual(['ours again', 7]);
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

  it('knows its noise by what was measured twice', () => {
    expect(noiseOf(SAMPLE_TABLE)).toEqual({
      median: 1,
      low: expect.closeTo(0.95) as number,
      high: expect.closeTo(1.05) as number,
    });
    const once = SAMPLE_TABLE.rows.filter(({ name }) => name !== 'ours again');
    expect(noiseOf({ ...SAMPLE_TABLE, rows: once })).toBeUndefined();
  });

  it('keeps each figure round by round', () => {
    const rounds = [1, 2].map((p50Ms) => ({ p50Ms, p99Ms: p50Ms + 2 }));
    expect(roundsOf(rounds)).toEqual({ p50Ms: [1, 2], p99Ms: [3, 4] });
  });
});

describe('the work', () => {
  const HUNDRED: Workload = { numbers: 100, fields: 'window', concurrency: 2, requests: 4 };

  it('of two clients at a time is about different numbers, all of them kept for fiction', () => {
    const [first, second] = [numbersOf(HUNDRED, 0), numbersOf(HUNDRED, 1)];

    expect(new Set([...first, ...second]).size).toBe(200);
    for (const one of [...first, ...numbersOf(HUNDRED, 10)]) {
      expect(one).toMatch(/^\+447700900\d{3}$/);
    }
    expect(bodyOf(HUNDRED, 0)).not.toBe(bodyOf(HUNDRED, 1));
  });

  it('may be about one number as often', () => {
    const workload = { ...HUNDRED, isOneNumber: true };

    expect(new Set(numbersOf(workload, 0)).size).toBe(1);
    expect(nameOf(workload)).toBe('100 × the same number, window');
  });
});
