import { isMet, type Verdict } from '../goals.ts';
import { numberText, spreadText } from './figureText.ts';

/** The place of what was measured, by its name: the goals, or a long run. */
const PLACE = /<!-- measured: (?!end)(.+?) -->\n[^]*?<!-- measured: end -->/g;

const NOT_MEASURED = 'Not measured yet: `npm run bench` writes it here.';

/** The goals that have a bound, and what was measured. */
export function goalsMarkdown(verdicts: readonly Verdict[]): string {
  const rows = verdicts.flatMap((verdict) => {
    const { says, atMost } = verdict.goal;
    if (atMost === undefined) return [];
    const bound = numberText(atMost, Number.isInteger(atMost) ? 0 : 2);
    return [[says, bound, spreadText(verdict.measured), isMet(verdict) ? 'met' : '**missed**']];
  });
  if (rows.length === 0) return NOT_MEASURED;
  return laidOut([['goal', 'at most', 'median (quartiles)', ''], ...rows]);
}

/** Puts what was measured in the places of what was measured before; by name. */
export function withMeasured(document: string, measured: ReadonlyMap<string, string>): string {
  return document.replace(PLACE, (_before, name: string) => {
    const text = measured.get(name) ?? NOT_MEASURED;
    return `<!-- measured: ${name} -->\n\n${text}\n\n<!-- measured: end -->`;
  });
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
