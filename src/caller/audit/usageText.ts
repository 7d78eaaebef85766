import { formatAmount } from '../../domain/price.ts';
import { noUsage, type Dimension, type Usage } from './usage.ts';

type Rows = readonly (readonly string[])[];

export function usageTable(
  dimensions: readonly Dimension[],
  usages: readonly Usage[],
  currency: string | undefined,
): string {
  const rows = [...rowsOf(dimensions, usages, currency), totalOf(dimensions, usages)];
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => plain(row[column] ?? '').length)),
  );
  const isText = (column: number): boolean =>
    column < dimensions.length || column === widths.length - 1;
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return isText(column) ? plain(cell).padEnd(width) : cell.padStart(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** A report as CSV (RFC 4180), for a spreadsheet: no cell of it is read as a formula. Pure. */
export function usageCsv(
  dimensions: readonly Dimension[],
  usages: readonly Usage[],
  currency: string | undefined,
): string {
  return rowsOf(dimensions, usages, currency)
    .map((row) => `${row.map(csvCell).join(',')}\r\n`)
    .join('');
}

function rowsOf(
  dimensions: readonly Dimension[],
  usages: readonly Usage[],
  currency: string | undefined,
): Rows {
  const price = currency === undefined ? 'price' : `price ${currency}`;
  const head = ['lookups', 'attempts', 'consents', 'saved', 'unfinished', price, 'outcomes'];
  return [
    [...dimensions, ...head],
    ...usages.map((usage) => [...usage.group, ...figuresOf(usage)]),
  ];
}

function figuresOf(usage: Usage): readonly string[] {
  const { lookups, attempts, consents, saved, unfinished, price, outcomes } = usage;
  return [
    ...[lookups, attempts, consents, saved, unfinished].map(String),
    price === undefined ? '' : formatAmount(price),
    [...outcomes]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([outcome, count]) => `${outcome} ${count}`)
      .join(' · '),
  ];
}

function totalOf(dimensions: readonly Dimension[], usages: readonly Usage[]): readonly string[] {
  const total = noUsage(dimensions.map((_, column) => (column === 0 ? 'total' : '')));
  for (const usage of usages) {
    total.lookups += usage.lookups;
    total.attempts += usage.attempts;
    total.consents += usage.consents;
    total.saved += usage.saved;
    total.unfinished += usage.unfinished;
    total.price =
      total.price === undefined || usage.price === undefined
        ? undefined
        : total.price + usage.price;
  }
  return [...total.group, ...figuresOf(total)];
}

/** What an issuer calls a client may hold signs that move a terminal's cursor. */
function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '�').slice(0, 64);
}

/** As spreadsheets begin one, also behind blanks, and with full-width signs. */
const FORMULA = /^[\t\r]|^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]/u;

function csvCell(text: string): string {
  const line = text.replaceAll(/[\r\n]+/g, ' ');
  const harmless = FORMULA.test(line) && line !== '-' ? `'${line}` : line;
  return /[",;]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
