import { isMet, type Verdict } from '../goals.ts';
import { spreadOf, type Spread } from '../measure/statistics.ts';
import { noiseOf, ratioOf, type Row, type Table } from '../tables/table.ts';

/** On what it was measured: enough to read the figures, and no more of the machine. */
export interface Circumstances {
  readonly date: string;
  readonly node: string;
  readonly cores: number;
}

/** Down to here each member has a line of its own; what lies deeper, such as a row of a table, is one line. */
const LEVELS = 4;

/** As many digits as a figure is worth. */
const DIGITS = 4;

/** All that was measured, for programs to read: medians and quartiles, and how many rounds they are of. */
export function resultsJson(
  circumstances: Circumstances,
  tables: readonly Table[],
  verdicts: readonly Verdict[],
): string {
  const results = {
    ...circumstances,
    goals: verdicts.map((verdict) => ({
      says: verdict.goal.says,
      ...(verdict.goal.atMost === undefined
        ? {}
        : { atMost: verdict.goal.atMost, isMet: isMet(verdict) }),
      measured: rounded(verdict.measured),
    })),
    tables: tables.map((table) => ({
      name: table.name,
      title: table.title,
      noise: rounded(noiseOf(table)),
      rows: table.rows.map((row) => rowResults(table, row)),
    })),
  };
  return `${jsonText(results, LEVELS)}\n`;
}

function rowResults(table: Table, row: Row) {
  const figures = Object.entries(row.rounds);
  const ratios = table.comparisons.flatMap((comparison) => {
    const ratio = ratioOf(table, row, comparison);
    const name = `${comparison.figure} ÷ ${comparison.against}`;
    return ratio === undefined || row.name === comparison.against ? [] : [[name, rounded(ratio)]];
  });
  return {
    case: row.case,
    name: row.name,
    rounds: Math.max(0, ...figures.map(([, rounds]) => rounds.length)),
    figures: Object.fromEntries(
      figures.map(([name, rounds]) => [name, rounded(spreadOf(rounds))]),
    ) as Record<string, Spread>,
    ratios: Object.fromEntries(ratios) as Record<string, Spread>,
  };
}

function rounded(spread: Spread | undefined): Spread | undefined {
  if (spread === undefined) return undefined;
  const [median, low, high] = [spread.median, spread.low, spread.high].map((figure) =>
    Number(figure.toPrecision(DIGITS)),
  ) as [number, number, number];
  return { median, low, high };
}

function jsonText(value: unknown, levels: number, indent = ''): string {
  const isList = Array.isArray(value);
  if (levels === 0 || typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  const members = Object.entries(value).flatMap(([name, member]) => {
    if (member === undefined) return [];
    const text = jsonText(member, levels - 1, inner);
    return [`${inner}${isList ? '' : `${JSON.stringify(name)}: `}${text}`];
  });
  const [open, close] = isList ? '[]' : '{}';
  return members.length === 0
    ? `${open}${close}`
    : [open, members.join(',\n'), indent + close].join('\n');
}
