import { isMet, type Verdict } from '../goals.ts';
import { numberText, spreadText } from './figureText.ts';
import type { Circumstances } from './results.ts';

const START = '<!-- measured: npm run bench writes this -->';
const END = '<!-- measured: until here -->';

/** The goals and what was measured, as a table that is laid out as Prettier lays it out. */
export function goalsMarkdown(
  { date, node, cores }: Circumstances,
  verdicts: readonly Verdict[],
): string {
  const rows = verdicts.map((verdict) => {
    const { says, atMost } = verdict.goal;
    return [
      says,
      atMost === undefined ? '' : numberText(atMost, Number.isInteger(atMost) ? 0 : 2),
      spreadText(verdict.measured),
      atMost === undefined ? 'reported' : isMet(verdict) ? 'met' : '**missed**',
    ];
  });
  const lines = [['goal', 'at most', 'measured: median (quartiles)', ''], ...rows];
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(3, ...lines.map((cells) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = lines;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [
    `${date}, Node ${node}, ${cores} cores that had other work:`,
    '',
    line(head),
    rule,
    ...body.map(line),
  ].join('\n');
}

/** Puts what was measured in the place of what was measured before. */
export function withMeasured(document: string, measured: string): string {
  const start = document.indexOf(START);
  const end = document.indexOf(END);
  if (start < 0 || end < start) throw new Error('The document has no place for what is measured.');
  return `${document.slice(0, start)}${START}\n\n${measured}\n\n${document.slice(end)}`;
}
