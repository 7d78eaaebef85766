import Papa from 'papaparse';
import { readNumber, type BadNumber, type E164 } from './phoneNumber.ts';

export const MAX_NUMBERS = 10_000;
/** Ten thousand numbers with names and addresses beside them. */
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
 * Reads CSV or plain text: the delimiter is found by itself, and numbers that stand in one line are a
 * column all the same. Refused, with what to do, is what is no text or is too long.
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
  const rows = filled.flatMap(inOneColumn);
  const [first] = rows;
  if (first === undefined) return { kind: 'refused', why: 'There is nothing in it.' };
  const width = rows.reduce((widest, { cells }) => Math.max(widest, cells.length), 0);
  if (width > MAX_COLUMNS) return { kind: 'refused', why: TOO_MANY_COLUMNS };
  const hasHeading = rows.length > 1 && !first.cells.some(mayBeANumber);
  const columns = Array.from({ length: width }, (_, index) => {
    const name = hasHeading ? first.cells[index] : undefined;
    return name === undefined || name === '' ? `Column ${index + 1}` : name.slice(0, 60);
  });
  return { kind: 'table', table: { columns, rows: hasHeading ? rows.slice(1) : rows } };
}

function openQuote(line: number): string {
  return `The quotation mark in line ${line} has no end. Close it, or leave it out, and upload the file again.`;
}

const TOO_MANY_COLUMNS = `There are more than ${MAX_COLUMNS} columns in it. Keep the column of numbers and upload it again.`;

/** Why a file is not even read; `undefined` where it may be. */
export function refusalBySize(bytes: number): string | undefined {
  return bytes > MAX_UPLOAD_BYTES
    ? 'The file is larger than 5 MB. Keep the column of numbers and upload it again.'
    : undefined;
}

function refusal(text: string): string | undefined {
  if (text.length > MAX_UPLOAD_BYTES) return refusalBySize(text.length);
  if (text.startsWith('PK')) {
    return 'This is a spreadsheet or an archive. Save it as CSV and upload that.';
  }
  // eslint-disable-next-line no-control-regex -- what no text file holds
  if (/[\u0000\ufffd]/u.test(text)) {
    return 'This is no text in UTF-8. Save it as CSV (UTF-8) and upload that.';
  }
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

/** A number in no form that is read must be told of as bad, and not be taken for a heading. */
function mayBeANumber(text: string): boolean {
  return /\p{Nd}(?:\P{Nd}*\p{Nd}){4}/u.test(text);
}

/** The column that holds the most numbers; the first where none holds any. */
export function likelyColumn({ columns, rows }: Table): number {
  const sample = rows.slice(0, 200);
  const hits = columns.map(
    (_, index) =>
      sample.filter(({ cells }) => readNumber(cells[index] ?? '').kind === 'number').length,
  );
  return Math.max(0, hits.indexOf(Math.max(...hits)));
}

/** A number to ask about. */
export interface ListedNumber {
  readonly e164: E164;
  /** Where it stands in the text, from 1. */
  readonly line: number;
}

/** What a column holds, before anything is asked. */
export interface Listing {
  readonly numbers: readonly ListedNumber[];
  /** Numbers that stand in an earlier line: asked once. */
  readonly duplicates: readonly { readonly line: number; readonly firstLine: number }[];
  readonly bad: readonly { readonly line: number; readonly why: BadNumber }[];
}

/** Reads the numbers of a column. */
export function listNumbers({ rows }: Table, column: number): Listing {
  const firstLines = new Map<E164, number>();
  const duplicates: { line: number; firstLine: number }[] = [];
  const bad: { line: number; why: BadNumber }[] = [];
  for (const { line, cells } of rows) {
    const reading = readNumber(cells[column] ?? '');
    switch (reading.kind) {
      case 'bad':
        bad.push({ line, why: reading.why });
        break;
      case 'number': {
        const firstLine = firstLines.get(reading.e164);
        if (firstLine === undefined) firstLines.set(reading.e164, line);
        else duplicates.push({ line, firstLine });
        break;
      }
    }
  }
  const numbers = Array.from(firstLines, ([e164, line]) => ({ e164, line }));
  return { numbers, duplicates, bad };
}
