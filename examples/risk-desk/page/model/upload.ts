import Papa from 'papaparse';
import { readNumber, type BadNumber, type Completion, type E164 } from './phoneNumber.ts';

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
  /** Each at most as long as `columns`: one wide row does not make all the others wide. */
  readonly rows: readonly TableRow[];
}

interface TableRow {
  /** In the text, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** What was pasted or uploaded. */
export type Reading =
  | { readonly kind: 'table'; readonly table: Table }
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Reads CSV or plain text: the delimiter is detected, and numbers in one line are a column all the same.
 * What is not text, too long, or without anything like a phone number is refused, with what to do.
 */
export function readTable(text: string): Reading {
  const why = refusal(text);
  if (why !== undefined) return { kind: 'refused', why };
  const body = text.replace(/^\ufeff/u, '');
  // Empty lines count as rows, so that lines keep their numbers; they would mislead the guess.
  const { meta } = Papa.parse(body, { preview: 50, skipEmptyLines: 'greedy' });
  const { data, errors } = Papa.parse<string[]>(body, { delimiter: meta.delimiter });
  // All that follows such a quote is one cell: the numbers in it would be missing without a word.
  const open = errors.find(({ code }) => code === 'MissingQuotes');
  if (open !== undefined) return { kind: 'refused', why: openQuote((open.row ?? 0) + 1) };
  const filled: TableRow[] = data
    .map((cells, index) => ({ line: index + 1, cells: cells.map((cell) => cell.trim()) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''));
  const [first] = filled;
  if (first === undefined) return { kind: 'refused', why: 'It is empty.' };
  const hasHeading = filled.length > 1 && !first.cells.some(mayBeANumber);
  const rows = hasHeading ? filled.slice(1) : filled.flatMap(inOneColumn);
  const width = (hasHeading ? filled : rows).reduce(
    (widest, { cells }) => Math.max(widest, cells.length),
    0,
  );
  if (width > MAX_COLUMNS) return { kind: 'refused', why: TOO_MANY_COLUMNS };
  const columns = Array.from({ length: width }, (_, index) => {
    const name = hasHeading ? first.cells[index] : undefined;
    return name === undefined || name === '' ? `Column ${index + 1}` : name.slice(0, 60);
  });
  const table = { columns, rows };
  return likelyColumn(table) === null
    ? { kind: 'refused', why: NO_NUMBERS }
    : { kind: 'table', table };
}

const NO_NUMBERS =
  'No column looks like phone numbers. Choose the file with the numbers, one in each row.';

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
  if (text.startsWith('PK')) return 'This is a spreadsheet or an archive. Save it as CSV first.';
  // eslint-disable-next-line no-control-regex -- what no text file holds
  if (/[\u0000-\u0008\ufffd]/u.test(text)) return 'This is not a text file. Save it as CSV first.';
  return undefined;
}

/** A line that is nothing but numbers is as many rows. */
function inOneColumn(row: TableRow): readonly TableRow[] {
  const cells = row.cells.filter((cell) => cell !== '');
  const isList = cells.length > 1 && cells.every(looksLikeANumber);
  return isList ? cells.map((cell) => ({ line: row.line, cells: [cell] })) : [row];
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
export function likelyColumn({ columns, rows }: Table): number | null {
  const sample = rows.slice(0, SAMPLE_ROWS);
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
  const reading = readNumber(cell);
  if (reading.kind === 'number') return 1;
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
    case 'empty':
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

/** A number to check. */
export interface ListedNumber {
  readonly e164: E164;
  /** In the text, from 1. */
  readonly line: number;
}

/** A cell of the text. */
interface ListedCell {
  /** In the text, from 1. */
  readonly line: number;
  readonly text: string;
}

/** What a column holds, before anything is checked. */
export interface Listing {
  readonly numbers: readonly ListedNumber[];
  /** In an earlier line already: checked once. */
  readonly duplicates: readonly (ListedCell & { readonly firstLine: number })[];
  readonly bad: readonly (ListedCell & { readonly why: BadNumber })[];
  /** What was completed, and what it becomes. */
  readonly completed: readonly (ListedCell & { readonly e164: E164 })[];
  /** How many a choice of the country concerns, whether it is made or not. */
  readonly withoutCode: number;
}

/** Reads the numbers of a column. */
export function listNumbers(
  { rows }: Table,
  column: number,
  completion: Completion | null = null,
): Listing {
  const firstLines = new Map<E164, number>();
  const duplicates: Listing['duplicates'][number][] = [];
  const bad: Listing['bad'][number][] = [];
  const completed: Listing['completed'][number][] = [];
  let withoutCode = 0;
  for (const { line, cells } of rows) {
    const text = cells[column] ?? '';
    const reading = readNumber(text, completion);
    const plain = completion === null ? reading : readNumber(text);
    if (plain.kind === 'bad' && plain.why === 'noCountryCode') withoutCode += 1;
    if (reading.kind === 'bad') {
      bad.push({ line, text, why: reading.why });
      continue;
    }
    const { e164, isCompleted } = reading;
    if (isCompleted) completed.push({ line, text, e164 });
    const firstLine = firstLines.get(e164);
    if (firstLine === undefined) firstLines.set(e164, line);
    else duplicates.push({ line, text, firstLine });
  }
  const numbers = Array.from(firstLines, ([e164, line]) => ({ e164, line }));
  return { numbers, duplicates, bad, completed, withoutCode };
}
