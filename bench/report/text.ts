import { FIGURES } from '../measure/figures.ts';
import { spreadOf } from '../measure/statistics.ts';
import { isGuarded, isMet, type Verdict } from '../goals.ts';
import { noiseOf, ratioOf, type Row, type Table } from '../tables/table.ts';
import { columns } from './columns.ts';
import { figureText, numberText, spreadText } from './figureText.ts';

/** A table as the terminal shows it: medians, then each comparison with its quartiles. */
export function tableText(table: Table): string {
  const heads = headsOf(table);
  const lines: string[][] = [];
  let caseName: string | undefined;
  for (const row of table.rows) {
    if (row.case !== caseName) {
      const count = Math.max(0, ...Object.values(row.rounds).map((rounds) => rounds.length));
      lines.push([`${row.case} (rounds: ${count})`, ...heads]);
      caseName = row.case;
    }
    lines.push([`  ${row.name}`, ...cellsOf(table, row)]);
  }
  return [table.title, ...columns(lines), ...noiseText(table), ''].join('\n');
}

/** The heads of a table's columns, but for the first. */
export function headsOf({ shows, comparisons }: Table): string[] {
  return [
    ...shows.map((figure) => FIGURES[figure].heading),
    ...comparisons.map(({ figure, against }) => `${shortName(figure)} ÷ ${against}`),
  ];
}

function noiseText(table: Table): string[] {
  const noise = noiseOf(table);
  return noise === undefined
    ? []
    : [`noise, the same process against itself: ${spreadText(noise)}`];
}

/** What stands in them: medians, then each ratio with its quartiles. */
export function cellsOf(table: Table, row: Row): string[] {
  const figures = table.shows.map((figure) => {
    const rounds = row.rounds[figure];
    return rounds === undefined ? '' : figureText(figure, spreadOf(rounds).median);
  });
  const ratios = table.comparisons.map((comparison) => {
    const ratio = row.name === comparison.against ? undefined : ratioOf(table, row, comparison);
    return ratio === undefined ? '' : spreadText(ratio);
  });
  return [...figures, ...ratios];
}

function shortName(figure: keyof typeof FIGURES): string {
  return FIGURES[figure].heading.split(/[ ,]/)[0] ?? '';
}

/** Each goal: what was to be, what was measured, and whether that is it. */
export function goalsText(verdicts: readonly Verdict[]): string {
  return verdictLines('Goals', verdicts, ({ goal: { atMost } }) => atMost, isMet);
}

/** The same of the guard's bounds. */
export function guardText(verdicts: readonly Verdict[]): string {
  const guarded = verdicts.filter(({ goal }) => goal.guard !== undefined);
  return verdictLines('Guard', guarded, ({ goal: { guard } }) => guard, isGuarded);
}

function verdictLines(
  title: string,
  verdicts: readonly Verdict[],
  boundOf: (verdict: Verdict) => number | undefined,
  isKept: (verdict: Verdict) => boolean,
): string {
  const lines = verdicts.map((verdict) => {
    const bound = boundOf(verdict);
    return [
      `  ${verdict.goal.says}`,
      bound === undefined ? '' : `≤ ${numberText(bound, bound >= 30 ? 0 : 2)}`,
      spreadText(verdict.measured),
      bound === undefined ? 'reported' : isKept(verdict) ? 'met' : 'missed',
    ];
  });
  return [title, ...columns([['', 'at most', 'measured', ''], ...lines]), ''].join('\n');
}
