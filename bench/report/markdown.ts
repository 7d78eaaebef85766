import { isMet, type Verdict } from '../goals.ts';
import { noiseOf, type Row, type Table } from '../tables/table.ts';
import { numberText, spreadText } from './figureText.ts';
import { cellsOf, headsOf } from './text.ts';

/** Opens the place of what was measured: the goals, or a table by its name. */
const PLACE = /<!-- measured: (?!end)(.+?) -->\n[^]*?<!-- measured: end -->/g;

const NOT_MEASURED = 'Not measured yet: `npm run bench` writes it here.';

/** The goals and what was measured. */
export function goalsMarkdown(verdicts: readonly Verdict[]): string {
  if (verdicts.length === 0) return NOT_MEASURED;
  const rows = verdicts.map((verdict) => {
    const { says, atMost } = verdict.goal;
    return [
      says,
      atMost === undefined ? '' : numberText(atMost, Number.isInteger(atMost) ? 0 : 2),
      spreadText(verdict.measured),
      atMost === undefined ? 'reported' : isMet(verdict) ? 'met' : '**missed**',
    ];
  });
  return laidOut([['goal', 'at most', 'measured: median (quartiles)', ''], ...rows]);
}

/** A table: medians, ratios with their quartiles, the noise, and on what it was measured. */
export function tableMarkdown(table: Table): string {
  const cases = [...new Set(table.rows.map((row) => row.case))].map((name) => {
    const rows = table.rows.filter((row) => row.case === name);
    const head = [`${name}: ${roundsText(rows)}`, ...headsOf(table)];
    return laidOut([head, ...rows.map((row) => [row.name, ...cellsOf(table, row)])]);
  });
  const noise = noiseOf(table);
  const closing = [
    ...(table.circumstances === undefined ? [] : [circumstancesText(table.circumstances)]),
    ...(noise === undefined ? [] : [`the same process against itself: ${spreadText(noise)}`]),
  ];
  return [...cases, ...(closing.length === 0 ? [] : [`${closing.join('; ')}.`])].join('\n\n');
}

/** Puts what was measured in the places of what was measured before; by name. */
export function withMeasured(document: string, measured: ReadonlyMap<string, string>): string {
  return document.replace(PLACE, (_before, name: string) => {
    const text = measured.get(name) ?? NOT_MEASURED;
    return `<!-- measured: ${name} -->\n\n${text}\n\n<!-- measured: end -->`;
  });
}

function roundsText(rows: readonly Row[]): string {
  const count = Math.max(0, ...rows.flatMap(({ rounds }) => Object.values(rounds).map(lengthOf)));
  return count === 1 ? '1 round' : `${count} rounds`;
}

function lengthOf({ length }: readonly number[]): number {
  return length;
}

function circumstancesText({
  date,
  node,
  cores,
  loadAtStart,
}: NonNullable<Table['circumstances']>) {
  return `${date}, Node ${node}, ${cores} cores, load average ${loadAtStart} before the start`;
}

/** A table as Prettier lays it out. */
export function laidOut(lines: readonly (readonly string[])[]): string {
  const [head = [], ...body] = lines;
  const widths = head.map((_, column) =>
    Math.max(3, ...lines.map((cells) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(head), rule, ...body.map(line)].join('\n');
}
