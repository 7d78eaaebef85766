import Papa from 'papaparse';
import { readNumbers, type BadNumber, type Completion, type E164 } from './phoneNumber.ts';

/** Checked in one run; longer lists run in several parts. */
export const PART_SIZE = 10_000;
export const MAX_NUMBERS = 50_000;
/** Fifty thousand numbers with names and addresses beside them. */
export const MAX_UPLOAD_BYTES = 5 * 1024 * 1024;
/** More than a person would look through for the one with the numbers. */
const MAX_COLUMNS = 200;

/** A text read as a table. */
export interface Table {
  /** Of the first row where that is a heading, or `Column 1` and so on. */
  readonly columns: readonly string[];
  /** The row that names the columns, as it was written; `null` where there is none. */
  readonly heading: string | null;
  /** All others, empty ones too. */
  readonly rows: readonly TableRow[];
  /** How the text was written: so is its export. */
  readonly format: TableFormat;
}

export interface TableRow {
  /** In the text, from 1. */
  readonly line: number;
  /** Trimmed, and as many as the row has: one wide row does not make all the others wide. */
  readonly cells: readonly string[];
  /** As it was written, without its line end. */
  readonly source: string;
}

export interface TableFormat {
  readonly delimiter: string;
  readonly newline: string;
  /** Whether the export begins with a byte order mark. */
  readonly hasMark: boolean;
}

/** What was pasted or uploaded. */
export type Reading =
  | { readonly kind: 'table'; readonly table: Table }
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Reads CSV or plain text: the delimiter is detected, and numbers in one line are a column all the same.
 * What is not text, too long, or without anything like a phone number is refused, with what to do.
 *
 * @param hasMark whether its export begins with a byte order mark
 */
export function readTable(text: string, hasMark = true): Reading {
  const why = refusal(text);
  if (why !== undefined) return { kind: 'refused', why };
  const body = text.replace(/^\ufeff/u, '');
  // Empty lines count as rows, so that lines keep their numbers; they would mislead the guess.
  const { meta } = Papa.parse(body, { preview: 50, skipEmptyLines: 'greedy' });
  const { delimiter } = meta;
  const { all, newline, openLine } = parse(body, delimiter);
  // All that follows such a quote is one cell: the numbers in it would be missing without a word.
  if (openLine !== null) return { kind: 'refused', why: openQuote(openLine) };
  const filled = all.filter((row) => !isBlank(row));
  const [first] = filled;
  if (first === undefined) return { kind: 'refused', why: 'It is empty.' };
  const hasHeading = filled.length > 1 && !first.cells.some(mayBeANumber);
  const rows = hasHeading ? all.filter((row) => row !== first) : all.flatMap(inOneColumn);
  const width = (hasHeading ? all : rows).reduce(
    (widest, { cells }) => Math.max(widest, cells.length),
    0,
  );
  if (width > MAX_COLUMNS) return { kind: 'refused', why: TOO_MANY_COLUMNS };
  const columns = Array.from({ length: width }, (_, index) => {
    const name = hasHeading ? first.cells[index] : undefined;
    return name === undefined || name === '' ? `Column ${index + 1}` : name.slice(0, 60);
  });
  const heading = hasHeading ? first.source : null;
  const table = { columns, heading, rows, format: { delimiter, newline, hasMark } };
  return likelyColumn(table) === null
    ? { kind: 'refused', why: NO_NUMBERS }
    : { kind: 'table', table };
}

interface Parsed {
  readonly all: readonly TableRow[];
  readonly newline: string;
  /** Of a quotation mark that is never closed. */
  readonly openLine: number | null;
}

function parse(body: string, delimiter: string): Parsed {
  const all: TableRow[] = [];
  let newline = '\r\n';
  let openLine: number | null = null;
  let start = 0;
  Papa.parse<string[]>(body, {
    delimiter,
    step({ data, errors, meta: { cursor, linebreak } }) {
      const line = all.length + 1;
      if (errors.some(({ code }) => code === 'MissingQuotes')) openLine ??= line;
      const end = body.startsWith(linebreak, cursor - linebreak.length)
        ? cursor - linebreak.length
        : cursor;
      const source = body.slice(start, Math.max(start, end));
      // The end of the last line is not one more row.
      const isEnd = start === cursor && cursor === body.length;
      start = cursor;
      newline = linebreak;
      if (!isEnd) all.push({ line, cells: data.map((cell) => cell.trim()), source });
    },
  });
  return { all, newline, openLine };
}

function isBlank({ cells }: TableRow): boolean {
  return cells.every((cell) => cell === '');
}

const NO_NUMBERS =
  'No column looks like phone numbers. Choose the file with the numbers, one in each row.';

const SPREADSHEET =
  'This is a spreadsheet (.xlsx) or an archive. Save it as CSV first: in Excel, File › Save as › CSV UTF-8; in Numbers or Google Sheets, export or download as CSV.';

function openQuote(line: number): string {
  return `The quotation mark in line ${line} is never closed. Close or remove it, then upload the file again.`;
}

const TOO_MANY_COLUMNS = `It has more than ${MAX_COLUMNS} columns. Keep the column of numbers and upload it again.`;

/** Why a file is not even read; `undefined` where it may be. */
export function refusalBySize(bytes: number): string | undefined {
  return bytes > MAX_UPLOAD_BYTES
    ? 'The file is larger than 5 MB. Keep the column of numbers and upload it again.'
    : undefined;
}

function refusal(text: string): string | undefined {
  if (text.length > MAX_UPLOAD_BYTES) return refusalBySize(text.length);
  if (text.startsWith('PK')) return SPREADSHEET;
  // eslint-disable-next-line no-control-regex -- what no text file holds
  if (/[\u0000-\u0008\ufffd]/u.test(text)) return 'This is not a text file. Save it as CSV first.';
  return undefined;
}

/** A line that is nothing but numbers is as many rows. */
function inOneColumn(row: TableRow): readonly TableRow[] {
  const cells = row.cells.filter((cell) => cell !== '');
  const isList = cells.length > 1 && cells.every(looksLikeANumber);
  return isList ? cells.map((cell) => ({ line: row.line, cells: [cell], source: cell })) : [row];
}

function looksLikeANumber(text: string): boolean {
  return /^'?(?:tel:)?\+?[0-9(][0-9\s()-]{5,}$/iu.test(text);
}

/** A number in no form that is read is listed as bad, and is not a heading. */
function mayBeANumber(text: string): boolean {
  return /\p{Nd}(?:\P{Nd}*\p{Nd}){4}/u.test(text);
}

/** How many rows are read to see what a column holds. */
const SAMPLE_ROWS = 500;

/**
 * The column whose cells look most like phone numbers, whatever it is called; among equals the one that is
 * called mobile before any other, and home or fax last. `null` where none looks like that.
 */
export function likelyColumn({ columns, rows }: Pick<Table, 'columns' | 'rows'>): number | null {
  const sample = rows.filter((row) => !isBlank(row)).slice(0, SAMPLE_ROWS);
  const scores = columns.map((name, index) => {
    const cells = sample.map((row) => row.cells[index] ?? '').filter((cell) => cell !== '');
    const hits = cells.reduce((sum, cell) => sum + likeness(cell), 0);
    // A column with a number here and there is a remark; one that is half empty may be the numbers.
    const isMostly = hits >= cells.length / 3;
    return isMostly && hits > 0 ? hits / sample.length + preference(name) : 0;
  });
  const best = Math.max(0, ...scores);
  return best === 0 ? null : scores.indexOf(best);
}

/** How much a cell looks like a phone number, from 0 to 1. */
function likeness(cell: string): number {
  const reading = readNumbers(cell);
  if (reading.kind === 'numbers') return 1;
  switch (reading.why) {
    case 'noCountryCode':
      // Dates, amounts and short numbers are digits too.
      return DATE.test(cell) || AMOUNT.test(cell) || !/(?:[0-9][^0-9]*){7,15}$/u.test(cell)
        ? 0
        : 0.8;
    case 'spreadsheet':
      return 0.8;
    case 'length':
      return 0.5;
    case 'characters':
      return cell.startsWith('+') ? 0.5 : 0;
    case 'blankLine':
    case 'empty':
    case 'severalNumbers':
    case 'ambiguous':
    case 'notPossible':
      return 0;
  }
}

const DATE =
  /^(?:[0-9]{4}[-./][0-9]{1,2}[-./][0-9]{1,2}|[0-9]{1,2}[-./][0-9]{1,2}[-./][0-9]{2,4})\b/u;
const AMOUNT = /^[0-9]+[.][0-9]{1,2}$/u;

function preference(name: string): number {
  if (/mobil|cell|handy|msisdn|gsm|celular|m[oó]vil/iu.test(name)) return 0.3;
  if (/home|land|fax|office|work|festnetz|fijo/iu.test(name)) return -0.3;
  return /phone|tel|number|nummer|numero/iu.test(name) ? 0.1 : 0;
}

/** The columns that say most about a row: short, mostly filled, mostly different; at most three. */
export function likelyOwnColumns({ columns, rows }: Table, numbers: number): readonly number[] {
  const sample = rows.filter((row) => !isBlank(row)).slice(0, SAMPLE_ROWS);
  const scored = columns.flatMap((name, index) => {
    if (index === numbers) return [];
    const cells = sample.map((row) => row.cells[index] ?? '').filter((cell) => cell !== '');
    const meanLength = cells.reduce((sum, cell) => sum + cell.length, 0) / cells.length;
    if (cells.length < sample.length / 3 || meanLength > 40) return [];
    const named = /case|ticket|ref|order|amount|value|betrag|importe/iu.test(name) ? 1 : 0;
    const distinct = new Set(cells).size / cells.length;
    return [{ index, score: named + distinct + cells.length / sample.length }];
  });
  return scored
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MAX_OWN_COLUMNS)
    .map(({ index }) => index)
    .toSorted((a, b) => a - b);
}

/** How a column of the list's own is shown. */
export interface ShownColumn {
  readonly index: number;
  /** One that is called as one of ours says whose it is. */
  readonly name: string;
  /** In characters, as its cells need. */
  readonly width: number;
  /** Amounts are read from the right. */
  readonly isAmount: boolean;
}

const OUR_COLUMNS: ReadonlySet<string> = new Set(['line', 'number', 'customer', 'risk', 'checked']);

export function shownColumn({ columns, rows }: Table, index: number): ShownColumn {
  const name = columns[index] ?? '';
  const shown = OUR_COLUMNS.has(name.toLowerCase()) ? `${name} (list)` : name;
  const cells = rows.map((row) => row.cells[index] ?? '').filter((cell) => cell !== '');
  const longest = cells.reduce((most, { length }) => Math.max(most, length), shown.length);
  const isAmount = cells.every((cell) => /^[-+\p{Sc}\s]*\d[\d.,’'\s]*[\p{Sc}%\s]*$/u.test(cell));
  return { index, name: shown, width: Math.min(Math.max(longest, 8), 22), isAmount };
}

/** Of the person's own columns, so many are in the table; all are in the export. */
export const MAX_OWN_COLUMNS = 3;

/** A number to check. */
export interface ListedNumber {
  readonly e164: E164;
  /** Of the first row with this number. */
  readonly line: number;
  /** All rows with this number. */
  readonly own: readonly TableRow[];
}

/** A cell of the text. */
interface ListedCell {
  /** In the text, from 1. */
  readonly line: number;
  readonly text: string;
}

/** What became of a row of the text. */
export type ListedRow =
  | {
      readonly kind: 'numbers';
      readonly e164s: readonly [E164, ...E164[]];
      /** Where all of its numbers are in an earlier row: that of the first. */
      readonly firstLine: number | null;
    }
  | { readonly kind: 'skipped'; readonly why: BadNumber };

/** What a column holds, before anything is checked. */
export interface Listing {
  /** One for each row of the table, in its order. */
  readonly rows: readonly ListedRow[];
  readonly numbers: readonly ListedNumber[];
  /** In an earlier line already: checked once. */
  readonly duplicates: readonly (ListedCell & { readonly firstLine: number })[];
  readonly bad: readonly (ListedCell & { readonly why: BadNumber })[];
  /** What was completed, or has several numbers, and what it becomes. */
  readonly completed: readonly (ListedCell & { readonly e164s: readonly E164[] })[];
  /** How many a choice of the country concerns, whether it is made or not. */
  readonly withoutCode: number;
}

/** A list as it was uploaded, and what became of each of its rows. */
export interface ListFile {
  readonly table: Table;
  /** With the numbers. */
  readonly column: number;
  /** One for each row of the table, in its order. */
  readonly rows: readonly ListedRow[];
}

/** Reads the numbers of a column. */
export function listNumbers(
  { rows }: Table,
  column: number,
  completion: Completion | null = null,
): Listing {
  const found = new Map<E164, { readonly line: number; readonly own: TableRow[] }>();
  const duplicates: Listing['duplicates'][number][] = [];
  const bad: Listing['bad'][number][] = [];
  const completed: Listing['completed'][number][] = [];
  let withoutCode = 0;
  const listed = rows.map((row): ListedRow => {
    const { line } = row;
    if (isBlank(row)) return { kind: 'skipped', why: 'blankLine' };
    const text = row.cells[column] ?? '';
    const reading = readNumbers(text, completion);
    const plain = completion === null ? reading : readNumbers(text);
    if (plain.kind === 'bad' && plain.why === 'noCountryCode') withoutCode += 1;
    if (reading.kind === 'bad') {
      bad.push({ line, text, why: reading.why });
      return { kind: 'skipped', why: reading.why };
    }
    const { e164s, isCompleted } = reading;
    if (isCompleted) completed.push({ line, text, e164s });
    const firstLines = e164s.map((e164) => found.get(e164)?.line);
    for (const e164 of e164s) {
      const before = found.get(e164);
      if (before === undefined) found.set(e164, { line, own: [row] });
      else before.own.push(row);
    }
    const [firstLine] = firstLines;
    if (firstLine === undefined || firstLines.includes(undefined)) {
      return { kind: 'numbers', e164s, firstLine: null };
    }
    duplicates.push({ line, text, firstLine });
    return { kind: 'numbers', e164s, firstLine };
  });
  const numbers = Array.from(found, ([e164, { line, own }]) => ({ e164, line, own }));
  return { rows: listed, numbers, duplicates, bad, completed, withoutCode };
}
