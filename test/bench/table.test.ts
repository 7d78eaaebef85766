import { describe, expect, it } from 'vitest';
import { noiseOf, ratioOf, roundsOf, rowOf } from '../../bench/tables/table.ts';
import { SAMPLE_TABLE } from './sampleTable.ts';

describe('a table', () => {
  it('takes ratios within a round, then their median', () => {
    const ours = rowOf(SAMPLE_TABLE, '1 × window', 'ours');
    const comparison = { figure: 'cpuMicrosPerNumber', against: 'raw undici' } as const;

    // 3, 4, 2: the medians of both alone would come to 2.
    expect(ours && ratioOf(SAMPLE_TABLE, ours, comparison)?.median).toBe(3);
  });

  it('has no ratio where the other was not measured in that case', () => {
    const ours = rowOf(SAMPLE_TABLE, '10 × window', 'ours');
    const comparison = { figure: 'cpuMicrosPerNumber', against: 'raw undici' } as const;

    expect(ours && ratioOf(SAMPLE_TABLE, ours, comparison)).toBeUndefined();
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
    expect(
      roundsOf([
        { p50Ms: 1, p99Ms: 3 },
        { p50Ms: 2, p99Ms: 4 },
      ]),
    ).toEqual({
      p50Ms: [1, 2],
      p99Ms: [3, 4],
    });
  });
});
