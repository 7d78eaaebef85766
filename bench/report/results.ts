import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Table } from '../tables/table.ts';

/** Down to here each member has a line of its own; what lies deeper, such as a row of a table, is one line. */
const LEVELS = 4;

/** As many digits as a figure is worth. */
const DIGITS = 4;

/** The tables of a results file, with every round of every figure that they show; none where there is no file. */
export function readResults(file: URL): readonly Table[] {
  if (!existsSync(file)) return [];
  return (JSON.parse(readFileSync(file, 'utf8')) as { tables: readonly Table[] }).tables;
}

export function writeResults(file: URL, tables: readonly Table[]): void {
  writeFileSync(file, `${jsonText({ tables: tables.map(withWhatIsShown) }, LEVELS)}\n`);
}

function withWhatIsShown(table: Table): Table {
  const rows = table.rows.map((row) => {
    const shown = table.shows.map((figure) => {
      const rounds = row.rounds[figure]?.map((value) => Number(value.toPrecision(DIGITS)));
      return [figure, rounds] as const;
    });
    return { ...row, rounds: Object.fromEntries(shown) };
  });
  return { ...table, rows };
}

/** These tables in place of those of the same name; the others as they were, and all in this order. */
export function withTables(
  before: readonly Table[],
  measured: readonly Table[],
  names: readonly string[],
): Table[] {
  return names.flatMap(
    (name) =>
      measured.find((table) => table.name === name) ??
      before.find((table) => table.name === name) ??
      [],
  );
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
