import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { judge } from '../../bench/goals.ts';
import { barChartSvg } from '../../bench/report/barChart.ts';
import { CHARTS, chartSvg } from '../../bench/report/charts.ts';
import { columns } from '../../bench/report/columns.ts';
import { goalsMarkdown, withMeasured } from '../../bench/report/markdown.ts';
import { readResults, withTables, writeResults } from '../../bench/report/results.ts';
import { tableText } from '../../bench/report/text.ts';
import { SAMPLE_TABLE } from './sampleTable.ts';

const CIRCUMSTANCES = { date: '2026-11-21', node: 'v24.0.0', cores: 2, loadAtStart: 0.1 };
const NOT_MEASURED = 'Not measured yet: `npm run bench` writes it here.';
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

const tableOf = (name: string, title: string) => ({ ...SAMPLE_TABLE, name, title });
const placeOf = (name: string, text: string) =>
  `<!-- measured: ${name} -->\n\n${text}\n\n<!-- measured: end -->`;

describe('the results file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'bench-results-'));
  const file = pathToFileURL(join(directory, 'latest.json'));
  afterAll(() => rmSync(directory, { recursive: true }));

  it('holds every round of what its tables show, and is read as it was', () => {
    expect(readResults(file)).toEqual([]);

    writeResults(file, [{ ...SAMPLE_TABLE, circumstances: CIRCUMSTANCES }]);

    expect(readResults(file)).toEqual([{ ...SAMPLE_TABLE, circumstances: CIRCUMSTANCES }]);
  });

  it('rounds a figure to what it is worth, and leaves out what is not shown', () => {
    const rounds = { cpuMicrosPerNumber: [123.456789], p50Ms: [1] };
    const rows = [{ case: '1 × window', name: 'ours', rounds }];

    writeResults(file, [{ ...SAMPLE_TABLE, rows }]);

    expect(readResults(file)[0]?.rows[0]?.rounds).toEqual({ cpuMicrosPerNumber: [123.5] });
  });

  it('gets a table in the place of the one before, in the order of all, without what is gone', () => {
    const before = [tableOf('a', 'old'), tableOf('b', 'old'), tableOf('gone', 'old')];

    const after = withTables(before, [tableOf('b', 'new'), tableOf('c', 'new')], ['c', 'b', 'a']);

    expect(after.map(({ name, title }) => `${name} ${title}`)).toEqual(['c new', 'b new', 'a old']);
  });
});

describe('the document', () => {
  const before = `A\n\n${placeOf('goals', 'old')}\n\nB\n\n${placeOf('cost', 'old')}\n\nC\n`;

  it('gets what was measured, each in its place', () => {
    const measured = new Map([
      ['goals', 'of the goals'],
      ['cost', 'of the cost'],
    ]);

    const after = withMeasured(before, measured);

    expect(after).toBe(
      `A\n\n${placeOf('goals', 'of the goals')}\n\nB\n\n${placeOf('cost', 'of the cost')}\n\nC\n`,
    );
    expect(withMeasured(after, measured)).toBe(after);
  });

  it('says so where something was not measured', () => {
    expect(withMeasured(before, new Map())).toContain(placeOf('cost', NOT_MEASURED));
    expect(goalsMarkdown([])).toBe(NOT_MEASURED);
  });

  it('has a row for each goal that has a bound', () => {
    const reported = VERDICTS.map(({ goal, measured }) => ({
      goal: { says: 'reported', found: goal.found },
      measured,
    }));

    expect(
      goalsMarkdown([...VERDICTS, ...reported])
        .split('\n')
        .slice(2),
    ).toEqual(['| against the limit | 2.50    | 3.00 (2.50–3.50)   | **missed** |']);
  });

  it('in the project has a place for the goals', () => {
    const document = readFileSync(
      new URL('../../bench/results/README.md', import.meta.url),
      'utf8',
    );
    const places = [...document.matchAll(/<!-- measured: (.+?) -->/g)].map(([, name]) => name);

    expect(places).toEqual(['goals', 'end']);
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
    expect(svg).toContain('<rect class="ours" x="290" y="86" width="210" ');
    expect(svg).toContain('<line class="line" x1="395" y1="94" x2="710" y2="94"/>');
    expect(svg).toContain('<line class="mark" x1="395" ');
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
