import { describe, expect, it } from 'vitest';
import { judge } from '../../bench/goals.ts';
import { barChartSvg } from '../../bench/report/barChart.ts';
import { CHARTS, chartSvg } from '../../bench/report/charts.ts';
import { columns } from '../../bench/report/columns.ts';
import { goalsMarkdown, withMeasured } from '../../bench/report/markdown.ts';
import { resultsJson } from '../../bench/report/results.ts';
import { tableText } from '../../bench/report/text.ts';
import { SAMPLE_TABLE } from './sampleTable.ts';

const CIRCUMSTANCES = { date: '2026-11-21', node: 'v24.0.0', cores: 2 };
const VERDICTS = judge(
  [
    {
      says: 'against the limit',
      found: {
        table: 'cost',
        case: '1 × window',
        row: 'ours',
        figure: 'cpuMicrosPerNumber',
        over: { row: 'raw undici', as: 'ratio' },
      },
      atMost: 2.5,
    },
  ],
  [SAMPLE_TABLE],
);

it('columns are as wide as their widest cell', () => {
  expect(columns([['a', 'bcd'], ['ef', 'g'], ['h']])).toEqual(['a   bcd', 'ef    g', 'h']);
});

it('a table tells figures, ratios with their quartiles, and the noise', () => {
  const text = tableText(SAMPLE_TABLE);

  expect(text).toMatch(
    /^1 × window \(rounds: 3\) +CPU a number, µs +CPU ÷ raw undici +CPU ÷ ours$/m,
  );
  expect(text).toMatch(/^ {2}raw undici +100\.0 +0\.33 \(0\.29–0\.42\)$/m);
  expect(text).toMatch(/^ {2}ours +200\.0 +3\.00 \(2\.50–3\.50\)$/m);
  expect(text).toMatch(/^noise, the same process against itself: 1\.00 \(0\.95–1\.05\)$/m);
});

it('the results hold every row, with figures and ratios', () => {
  const results = JSON.parse(resultsJson(CIRCUMSTANCES, [SAMPLE_TABLE], VERDICTS)) as {
    goals: unknown[];
    tables: { rows: unknown[] }[];
  };

  expect(results).toMatchObject(CIRCUMSTANCES);
  expect(results.goals).toEqual([
    {
      says: 'against the limit',
      atMost: 2.5,
      isMet: false,
      measured: { median: 3, low: 2.5, high: 3.5 },
    },
  ]);
  expect(results.tables[0]?.rows[1]).toEqual({
    case: '1 × window',
    name: 'ours',
    rounds: 3,
    figures: { cpuMicrosPerNumber: { median: 200, low: 200, high: 250 } },
    ratios: { 'cpuMicrosPerNumber ÷ raw undici': { median: 3, low: 2.5, high: 3.5 } },
  });
});

describe('the document', () => {
  const before =
    'A\n<!-- measured: npm run bench writes this -->\nold\n<!-- measured: until here -->\nB\n';

  it('gets what was measured, in the place of what was measured before', () => {
    const after = withMeasured(before, 'new');

    expect(after).toMatch(/^A\n<!-- .* -->\n\nnew\n\n<!-- .* -->\nB\n$/);
    expect(withMeasured(after, 'new')).toBe(after);
    expect(() => withMeasured('A', 'new')).toThrow(/no place/);
  });

  it('has a row for each goal', () => {
    expect(goalsMarkdown(CIRCUMSTANCES, VERDICTS)).toContain(
      '| against the limit | 2.50    | 3.00 (2.50–3.50)             | **missed** |',
    );
  });
});

describe('a chart', () => {
  const bar = { name: 'a < b & c', kind: 'ours' as const, label: '2.00' };
  const svg = barChartSvg({
    title: 'T',
    unit: 'ms',
    mark: 1,
    groups: [{ name: 'g', bars: [{ ...bar, spread: { median: 2, low: 1, high: 4 } }] }],
  });

  it('draws the median as a bar and the quartiles as whiskers, on one scale', () => {
    expect(svg).toContain('<rect class="ours" x="230" y="86" width="210" ');
    expect(svg).toContain('<line class="line" x1="335" y1="94" x2="650" y2="94"/>');
    expect(svg).toContain('<line class="mark" x1="335" ');
  });

  it('escapes names, and has colours for light and for dark', () => {
    expect(svg).toContain('a &lt; b &amp; c');
    expect(svg).toContain('prefers-color-scheme: dark');
  });

  it('is drawn of the rows that have the figure', () => {
    const cost = CHARTS.find(({ name }) => name === 'cost');

    const drawn = (cost && chartSvg(cost, [SAMPLE_TABLE])) ?? '';

    expect(drawn.match(/<rect class="(?:ours|limit|other)"/g)).toHaveLength(3);
    expect(drawn).toContain('>3.00</text>');
    expect(cost && chartSvg(cost, [])).toBeUndefined();
  });
});
