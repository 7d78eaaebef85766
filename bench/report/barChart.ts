import type { Spread } from '../measure/statistics.ts';

/** Bars side by side, in groups one below the other. */
export interface BarChart {
  readonly title: string;
  readonly unit: string;
  readonly groups: readonly BarGroup[];
  /** Where a line is drawn across all bars. */
  readonly mark: number;
}

export interface BarGroup {
  readonly name: string;
  readonly bars: readonly Bar[];
}

export interface Bar {
  readonly name: string;
  readonly kind: 'ours' | 'limit' | 'other';
  readonly spread: Spread;
  /** What is written beside it. */
  readonly label: string;
}

const WIDTH = 820;
const MARGIN = 20;
const BARS_FROM = 290;
const BARS_TO = 710;
const BAR = 16;
const STEP = 24;
const GROUP_GAP = 14;
const FIRST_GROUP = 76;

/** Colours of their own for light and for dark, since a picture sees what the page around it does not say. */
const STYLE = `
    .paper { fill: #ffffff }
    .ink { fill: #1f2328 }
    .soft { fill: #59636e }
    .ours { fill: #0969da }
    .other { fill: #afb8c1 }
    .limit { fill: #1a7f37 }
    .line { stroke: #1f2328 }
    .mark { stroke: #59636e; stroke-dasharray: 3 3 }
    text { font: 13px system-ui, sans-serif }
    .title { font-size: 16px; font-weight: 600 }
    .group { font-weight: 600 }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #0d1117 }
      .ink { fill: #f0f6fc }
      .soft { fill: #9198a1 }
      .ours { fill: #4493f8 }
      .other { fill: #4d5561 }
      .limit { fill: #3fb950 }
      .line { stroke: #f0f6fc }
      .mark { stroke: #9198a1 }
    }`;

/** Draws a chart: bars are medians, whiskers reach from quartile to quartile. */
export function barChartSvg({ title, unit, groups, mark }: BarChart): string {
  const bars = groups.flatMap((group) => group.bars);
  const largest = Math.max(mark, ...bars.map(({ spread }) => spread.high));
  const x = (figure: number): number => place((figure / largest) * (BARS_TO - BARS_FROM));
  let y = FIRST_GROUP;
  const drawn: string[] = [];
  for (const group of groups) {
    drawn.push(text('ink group', MARGIN, y, group.name));
    y += 10;
    for (const bar of group.bars) {
      drawn.push(...drawBar(bar, y, x));
      y += STEP;
    }
    y += GROUP_GAP + 10;
  }
  const height = y;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `  <title>${escaped(title)}</title>`,
    `  <style>${STYLE}\n  </style>`,
    `  <rect class="paper" width="${WIDTH}" height="${height}" rx="6"/>`,
    text('ink title', MARGIN, 30, title),
    text('soft', MARGIN, 50, unit),
    ...drawn,
    line('mark', BARS_FROM + x(mark), FIRST_GROUP + 4, BARS_FROM + x(mark), height - 24),
    '</svg>',
    '',
  ].join('\n');
}

function drawBar(
  { name, kind, spread, label }: Bar,
  top: number,
  x: (figure: number) => number,
): string[] {
  const middle = top + BAR / 2;
  const [low, high] = [BARS_FROM + x(spread.low), BARS_FROM + x(spread.high)];
  return [
    text('ink', MARGIN + 10, top + 13, name),
    `  <rect class="${kind}" x="${BARS_FROM}" y="${top}" width="${x(spread.median)}" height="${BAR}" rx="2"/>`,
    line('line', low, middle, high, middle),
    line('line', low, middle - 4, low, middle + 4),
    line('line', high, middle - 4, high, middle + 4),
    text('soft', high + 8, top + 13, label),
  ];
}

function text(kind: string, x: number, y: number, content: string): string {
  return `  <text class="${kind}" x="${place(x)}" y="${y}">${escaped(content)}</text>`;
}

function line(kind: string, ...[x1, y1, x2, y2]: [number, number, number, number]): string {
  return `  <line class="${kind}" x1="${place(x1)}" y1="${y1}" x2="${place(x2)}" y2="${y2}"/>`;
}

function place(at: number): number {
  return Math.round(at * 10) / 10;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
