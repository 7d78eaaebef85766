import Papa from 'papaparse';
import type { DeskRow } from './deskRow.ts';
import { masked, maskedText, saysOfBadNumber, type E164 } from './phoneNumber.ts';
import { reasonOf } from './reasons.ts';
import type { ListedRow, ListFile, TableFormat } from './upload.ts';
import {
  answerOf,
  rankOf,
  refreshFailure,
  verdictName,
  verdictOf,
  type RowState,
} from './verdict.ts';
import {
  activatedAtMs,
  asOfMs,
  WINDOWS_HOURS,
  windowName,
  type LastChange,
  type WindowAnswer,
} from './windows.ts';

const COLUMNS = [
  'Line',
  'Number checked',
  'Customer',
  'Customer id',
  'Result',
  'Reason',
  'Last SIM change',
  'SIM activated',
  ...WINDOWS_HOURS.map((hours) => `Changed within ${windowName(hours)}`),
  'Checked at',
  'Reference',
];

/** How the numbers of an export are written. */
export type NumbersInExport = 'masked' | 'full';

/** What a spreadsheet takes for a formula, full-width signs too; blanks before it do not protect. */
const FORMULA = /^\s*[=+\-@\uff0b\uff0d\uff1d\uff20]|^[\t\r\n]/u;

/** The same behind what another spreadsheet takes for the end of a cell: not all split at commas alone. */
const FORMULA_WITHIN = /([;,|\t\r\n]\s{0,9})(?=[=+\-@\uff0b\uff0d\uff1d\uff20])/gu;

/** An amount below zero is no formula. */
const NEGATIVE = /^-[0-9][0-9.,]*%?$/u;

/** As text: a cell that a spreadsheet would run begins with an apostrophe. */
function asText(value: string): string {
  if (NEGATIVE.test(value)) return value;
  const within = value.replaceAll(FORMULA_WITHIN, "$1'");
  return FORMULA.test(within) ? `'${within}` : within;
}

/**
 * The list as it was given, with our columns behind: its rows, its order, its delimiter, line ends and
 * quotation marks. Cells of its own are byte-equal but for the numbers where those are masked, and for what a
 * spreadsheet would run (see `countFormulas`). A row that was skipped says why; one whose numbers were in an
 * earlier row has their result. Unknown is written out, and never left empty.
 *
 * @param shown only the rows with these numbers, in this order; all rows where it is left out
 */
export function toCsv(
  file: ListFile,
  rows: readonly DeskRow[],
  numbers: NumbersInExport,
  shown?: readonly DeskRow[],
): string {
  const { table } = file;
  const byNumber = new Map(rows.map((row) => [row.e164, row]));
  const heading = table.heading === null ? null : ownCells(table.heading, table.format);
  const columns = table.columns.map((name, index) => heading?.[index] ?? unquoted(name));
  const names = COLUMNS.map((name) =>
    table.columns.includes(name) ? `${name} (SIM check)` : name,
  );
  const lines = [
    joined(
      [
        ...columns.map(({ value, isQuoted, raw }) => written(value, isQuoted, raw, table.format)),
        ...ours(names, table.format),
      ],
      table.format,
    ),
  ];
  for (const index of shown === undefined ? table.rows.keys() : indexesOf(file, shown)) {
    const row = table.rows[index];
    const listed = file.rows[index];
    if (row === undefined || listed === undefined) continue;
    const own = ownCells(row.source, table.format).map(({ value, isQuoted, raw }, column) => {
      const isMasked = numbers === 'masked' && column === file.column;
      return written(
        isMasked ? maskedText(value) : value,
        isQuoted,
        isMasked ? null : raw,
        table.format,
      );
    });
    while (own.length < table.columns.length) own.push('');
    const text = row.cells[file.column] ?? '';
    const cells = resultCells(listed, row.line, text, byNumber, numbers);
    lines.push(joined([...own, ...ours(cells, table.format)], table.format));
  }
  return lines.map((line) => line + table.format.newline).join('');
}

/** How many of a list's own cells an export changes, so that no spreadsheet runs them. Its numbers are text anyway. */
export function countFormulas({ table, column }: ListFile): number {
  return table.rows.reduce(
    (count, { source }) =>
      count +
      ownCells(source, table.format).filter(
        ({ value }, index) => index !== column && asText(value) !== value,
      ).length,
    0,
  );
}

/** The rows of these numbers, each once. */
function indexesOf({ table }: ListFile, shown: readonly DeskRow[]): Iterable<number> {
  const indexes = new Map(table.rows.map((row, index) => [row, index]));
  return new Set(shown.flatMap(({ own }) => own.map((row) => indexes.get(row) ?? -1)));
}

interface OwnCell {
  readonly value: string;
  readonly isQuoted: boolean;
  /** As it is in the list; `null` where its quotation marks are no one's rule. */
  readonly raw: string | null;
}

function unquoted(value: string): OwnCell {
  return { value, isQuoted: false, raw: null };
}

/** The cells of a row, with how each was written. */
function ownCells(source: string, { delimiter, newline }: TableFormat): OwnCell[] {
  const { data } = Papa.parse<string[]>(source, { delimiter, newline: newline as '\n' });
  const [values = []] = data;
  let at = 0;
  return values.map((value): OwnCell => {
    const isQuoted = source.startsWith('"', at);
    const plain = isQuoted ? `"${value.replaceAll('"', '""')}"` : value;
    // Blanks may be between a closing mark and the delimiter.
    const end = source.indexOf(delimiter, at + plain.length);
    const raw = source.slice(at, end === -1 ? source.length : end);
    if (!raw.startsWith(plain) || raw.slice(plain.length).trim() !== '') {
      at = Number.POSITIVE_INFINITY;
      return unquoted(value);
    }
    at += raw.length + delimiter.length;
    return { value, isQuoted, raw };
  });
}

/** @param raw what it is where nothing has to change */
function written(
  value: string,
  isQuoted: boolean,
  raw: string | null,
  { delimiter }: TableFormat,
): string {
  const text = asText(value);
  if (text === value && raw !== null) return raw;
  return isQuoted || text.includes(delimiter) || /["\r\n]/u.test(text)
    ? `"${text.replaceAll('"', '""')}"`
    : text;
}

function ours(cells: readonly string[], format: TableFormat): string[] {
  return cells.map((cell) => written(cell, false, null, format));
}

function joined(cells: readonly string[], { delimiter }: TableFormat): string {
  return cells.join(delimiter);
}

function resultCells(
  listed: ListedRow,
  line: number,
  text: string,
  byNumber: ReadonlyMap<E164, DeskRow>,
  numbers: NumbersInExport,
): readonly string[] {
  if (listed.kind === 'skipped') {
    const why = saysOfBadNumber(listed.why, numbers === 'masked' ? maskedText(text) : text);
    return [String(line), '', '', '', 'Skipped', why, ...COLUMNS.slice(6).map(() => '')];
  }
  const { e164s, firstLine } = listed;
  const rows = e164s.flatMap((e164) => byNumber.get(e164) ?? []);
  const riskiest = rows.toSorted(
    (a, b) => rankOf(verdictOf(a.state)) - rankOf(verdictOf(b.state)),
  )[0];
  if (riskiest === undefined) throw new Error('A number of the list is not on the desk.');
  const { e164, customer, state, correlator } = riskiest;
  const checked = rows.filter((row) => answerOf(row.state) !== undefined).length;
  const reasons = [
    reasonCell(state),
    firstLine === null ? '' : `same number as in line ${firstLine}`,
    rows.length === 1 ? '' : `${checked} of ${rows.length} numbers checked, the riskiest is shown`,
  ];
  return [
    String(line),
    numbers === 'full' ? e164 : masked(e164),
    customer?.name ?? '',
    customer?.id ?? '',
    verdictName(verdictOf(state)),
    reasons.filter((reason) => reason !== '').join('; '),
    ...answerCells(state),
    correlator ?? '',
  ];
}

function reasonCell(state: RowState): string {
  const refresh = refreshFailure(state);
  if (refresh !== null) return `not refreshed: ${reasonOf(refresh).name}`;
  const verdict = verdictOf(state);
  return verdict.kind === 'unknown' ? reasonOf(verdict.reason).name : '';
}

function answerCells(state: RowState): readonly string[] {
  const answer = answerOf(state);
  if (answer === undefined) {
    return ['not known', 'not known', ...WINDOWS_HOURS.map(() => 'not known'), ''];
  }
  const activated = activatedAtMs(answer);
  const checkedAtMs = asOfMs(answer);
  return [
    activated === null ? dateCell(answer.lastChange) : 'none',
    activated === null ? '' : new Date(activated).toISOString(),
    ...WINDOWS_HOURS.map((hours) => windowCell(answer.windows[hours])),
    checkedAtMs === null ? '' : new Date(checkedAtMs).toISOString(),
  ];
}

function dateCell(lastChange: LastChange): string {
  switch (lastChange.kind) {
    case 'at':
      return new Date(lastChange.atMs).toISOString();
    case 'withheld':
      return 'not disclosed';
    case 'unknown':
      return `unknown: ${reasonOf(lastChange.reason).name}`;
    case 'notAsked':
      return 'not checked';
  }
}

function windowCell(window: WindowAnswer): string {
  switch (window.kind) {
    case 'swapped':
      return 'yes';
    case 'notSwapped':
      return 'no';
    case 'unknown':
      return `unknown: ${reasonOf(window.reason).name}`;
    case 'notAsked':
      return 'not checked';
  }
}
