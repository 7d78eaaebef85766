import { OPERATIONS } from '../../domain/question.ts';
import { formatAmount, type Micros, type Price } from '../../domain/price.ts';
import type { Sought } from './findEntries.ts';
import { readAuditedLine, type AuditedLine } from './logFiles.ts';

export type UsageRange = Pick<Sought, 'sinceMs' | 'untilMs'>;

export const DIMENSIONS = ['day', 'operator', 'operation', 'client', 'subject', 'purpose'] as const;

export type Dimension = (typeof DIMENSIONS)[number];

/** Further groups are merged into one: each user of an app may be a subject. */
export const MAX_GROUPS = 100_000;

const COUNTS = ['lookups', 'attempts', 'consents', 'saved', 'unfinished'] as const;

/**
 * The counts of a group:
 * - attempts: exchanges of lookups that may have reached the operator, to compare with an invoice;
 * - saved: answers that were shared or kept, without a lookup;
 * - unfinished: lookups and prompts with only a line before: their process ended, or they are under way.
 */
export interface Usage extends Record<(typeof COUNTS)[number], number> {
  /** The values of the dimensions, in order. */
  readonly group: readonly string[];
  readonly outcomes: Map<string, number>;
  /** `undefined` where the operator's price is not known. */
  price: Micros | undefined;
}

function noUsage(group: readonly string[]): Usage {
  const counts = { lookups: 0, attempts: 0, consents: 0, saved: 0, unfinished: 0 };
  return { group, ...counts, outcomes: new Map(), price: 0 };
}

/** Cannot be the key of a group: those are JSON. */
const OTHERS = 'others';

export class UsageReport {
  /** All lines; torn lines of the audit log; lines beyond {@link MAX_GROUPS}. */
  readonly count = { lines: 0, torn: 0, overflowed: 0 };
  readonly #dimensions: readonly Dimension[];
  readonly #range: UsageRange;
  readonly #priceOf: (operator: string) => Price | undefined;
  readonly #groups = new Map<string, Usage>();

  constructor(
    dimensions: readonly Dimension[],
    range: UsageRange,
    priceOf: (operator: string) => Price | undefined,
  ) {
    this.#dimensions = dimensions;
    this.#range = range;
    this.#priceOf = priceOf;
  }

  /** Ignores lines that are not the audit log's. */
  add(line: string): void {
    this.count.lines += 1;
    const entry = readAuditedLine(line);
    if (entry === undefined) return;
    if (entry === 'torn') {
      this.count.torn += 1;
      return;
    }
    const { sinceMs = -Infinity, untilMs = Infinity } = this.#range;
    if (!(entry.atMs >= sinceMs && entry.atMs < untilMs)) return;
    if (entry.event !== 'lookup' && entry.event !== 'consent-request') return;
    const usage = this.#usageOf(entry);
    if (entry.audit === 'shared' || entry.audit === 'kept') usage.saved += 1;
    else if (entry.audit === 'before') usage.unfinished += 1;
    else if (entry.audit === 'after') this.#addEnded(usage, entry);
  }

  get usages(): readonly Usage[] {
    return (
      [...this.#groups.values()]
        // A range may begin between the two lines of a lookup.
        .map((usage) => ({ ...usage, unfinished: Math.max(0, usage.unfinished) }))
        .toSorted((a, b) => compare(a.group, b.group))
    );
  }

  #addEnded(usage: Usage, { event, operation, operator, outcome, attempts }: AuditedLine): void {
    usage.unfinished -= 1;
    usage.outcomes.set(outcome, (usage.outcomes.get(outcome) ?? 0) + 1);
    if (event === 'consent-request') {
      usage.consents += 1;
      return;
    }
    usage.lookups += 1;
    usage.attempts += attempts;
    const known = OPERATIONS.find((one) => one === operation);
    const micros = known && this.#priceOf(operator)?.microsPerLookup[known];
    usage.price = sumOf(usage.price, micros === undefined ? undefined : attempts * micros);
  }

  #usageOf(entry: AuditedLine): Usage {
    const group = this.#dimensions.map((dimension) => valueOf(dimension, entry));
    const key = JSON.stringify(group);
    const isBeyond = this.#groups.size >= MAX_GROUPS && !this.#groups.has(key);
    if (isBeyond) this.count.overflowed += 1;
    const name = isBeyond ? OTHERS : key;
    const usage = this.#groups.get(name) ?? noUsage(isBeyond ? group.map(() => OTHERS) : group);
    this.#groups.set(name, usage);
    return usage;
  }
}

/** `-` where a line has no value. */
function valueOf(dimension: Dimension, entry: AuditedLine): string {
  if (dimension !== 'day') return entry[dimension] || '-';
  return Number.isNaN(entry.atMs) ? '-' : new Date(entry.atMs).toISOString().slice(0, 10);
}

function compare(a: readonly string[], b: readonly string[]): number {
  const differing = a.findIndex((value, index) => value !== b[index]);
  if (differing < 0) return 0;
  return (a[differing] ?? '') < (b[differing] ?? '') ? -1 : 1;
}

function sumOf(one: Micros | undefined, other: Micros | undefined): Micros | undefined {
  return one === undefined || other === undefined ? undefined : one + other;
}

export function usageTable(
  dimensions: readonly Dimension[],
  usages: readonly Usage[],
  currency: string | undefined,
): string {
  const total = noUsage(dimensions.map((_, column) => (column === 0 ? 'total' : '')));
  for (const usage of usages) {
    for (const name of COUNTS) total[name] += usage[name];
    total.price = sumOf(total.price, usage.price);
  }
  const rows = rowsOf(dimensions, [...usages, total], currency).map((row) => row.map(plain));
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = (cell: string, column: number): string => {
    const width = widths[column] ?? 0;
    const isText = column < dimensions.length || column === widths.length - 1;
    return isText ? cell.padEnd(width) : cell.padStart(width);
  };
  return rows.map((row) => `${row.map(padded).join('  ').trimEnd()}\n`).join('');
}

/** RFC 4180. No spreadsheet takes a cell for a formula. */
export function usageCsv(...report: Parameters<typeof rowsOf>): string {
  return rowsOf(...report)
    .map((row) => `${row.map(csvCell).join(',')}\r\n`)
    .join('');
}

function rowsOf(
  dimensions: readonly Dimension[],
  usages: readonly Usage[],
  currency: string | undefined,
): readonly (readonly string[])[] {
  const price = currency === undefined ? 'price' : `price ${currency}`;
  const rows = usages.map((usage) => [
    ...usage.group,
    ...COUNTS.map((name) => String(usage[name])),
    usage.price === undefined ? '' : formatAmount(usage.price),
    [...usage.outcomes]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([outcome, count]) => `${outcome} ${count}`)
      .join(' · '),
  ]);
  return [[...dimensions, ...COUNTS, price, 'outcomes'], ...rows];
}

/** The name of a client may have characters that move a terminal's cursor. */
function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '�').slice(0, 64);
}

/** Spreadsheets treat cells that begin like this as formulas, also after blanks and with full-width characters. */
const FORMULA = /^[\t\r]|^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]/u;

function csvCell(text: string): string {
  const line = text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/[\p{Cc}\p{Cf}]/gu, '�');
  const harmless = FORMULA.test(line) && line !== '-' ? `'${line}` : line;
  return /[",;]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
