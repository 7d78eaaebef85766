import fc from 'fast-check';
import Papa from 'papaparse';
import { describe, expect, it } from 'vitest';
import {
  countFormulas,
  toCsv as fileToCsv,
  type NumbersInExport,
} from '../../page/model/csvExport.ts';
import type { DeskRow } from '../../page/model/deskRow.ts';
import {
  likelyColumn,
  listNumbers,
  readTable,
  type ListFile,
  type Listing,
} from '../../page/model/upload.ts';
import type { RowState } from '../../page/model/verdict.ts';
import { answer, answered, AS_OF_MS, NO, row, unknown, YES } from './rows.ts';

function fileOf(text: string): { file: ListFile; listing: Listing } {
  const reading = readTable(text);
  if (reading.kind !== 'table') throw new Error(reading.why);
  const { table } = reading;
  const column = likelyColumn(table) ?? -1;
  const listing = listNumbers(table, column);
  return { file: { table, column, rows: listing.rows }, listing };
}

/** The rows of a list on the desk, in these states. */
function rowsOf({ numbers }: Listing, states: readonly RowState[] = []): DeskRow[] {
  return numbers.map(({ e164, line, own }, index) =>
    row(1, states[index] ?? { kind: 'waiting' }, {
      id: index + 1,
      e164,
      line,
      own,
      customer: null,
      correlator: `desk${index + 1}`,
    }),
  );
}

/** Of a list of nothing but these numbers: its own column is left out. */
function toCsv(rows: readonly DeskRow[], numbers: NumbersInExport): string {
  const { file } = fileOf(rows.map(({ e164 }) => e164).join('\n'));
  const own = file.table.rows;
  const placed = rows.map((one, index) => ({ ...one, own: own.slice(index, index + 1) }));
  const { data } = Papa.parse<string[]>(fileToCsv(file, placed, numbers));
  return Papa.unparse(data.slice(0, -1).map((line) => line.slice(1)));
}

function cells(csv: string): string[][] {
  return Papa.parse<string[]>(csv).data;
}

describe('the export', () => {
  it('writes numbers as text, and unknown in words', () => {
    const rows = [
      row(1, answered([NO, YES, YES, YES], { kind: 'at', atMs: 0 })),
      row(2, answered([NO, NO, NO, unknown('PERIOD_NOT_SUPPORTED')])),
      row(3, { kind: 'failed', reason: 'OPERATOR_TIMEOUT' }, { customer: null }),
    ];
    const lines = cells(toCsv(rows, 'full')).map((one) => one.join('|'));
    expect(lines.slice(1)).toEqual([
      "1|'+447700900001|Customer 1|C1|SIM changed||1970-01-01T00:00:00.000Z||no|yes|yes|yes|2026-11-22T12:00:00.000Z|",
      "2|'+447700900002|Customer 2|C2|Unknown|Window too long|not disclosed||no|no|no|unknown: Window too long|2026-11-22T12:00:00.000Z|",
      `3|'+447700900003|||Unknown|Operator too slow${'|not known'.repeat(6)}||`,
    ]);
  });

  it('distinguishes a new line from an old one, and an answer that could not be refreshed from a fresh one', () => {
    const atMs = AS_OF_MS - 24 * 3_600_000;
    const newLine = answer([NO, NO, NO, NO], { kind: 'at', atMs });
    const rows = [
      row(1, { kind: 'answered', answer: newLine }),
      row(2, { kind: 'failed', reason: 'OPERATOR_TIMEOUT', before: newLine }),
    ];
    const [heading, ...data] = cells(toCsv(rows, 'full'));
    const of = (name: string) => data.map((one) => one[heading?.indexOf(name) ?? -1]);
    expect(of('Result')).toEqual(['New line', 'New line']);
    expect(of('SIM activated')).toEqual(Array(2).fill('2026-11-21T12:00:00.000Z'));
    expect(of('Last SIM change')).toEqual(['none', 'none']);
    expect(of('Reason')).toEqual(['', 'not refreshed: Operator too slow']);
    expect(of('Checked at')).toEqual(Array(2).fill('2026-11-22T12:00:00.000Z'));
  });

  it('masks the numbers unless they are wanted', () => {
    expect(toCsv([row(1, { kind: 'waiting' })], 'masked')).not.toContain('7700');
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', '-1'],
    ['-1+1', "'-1+1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t'=1"],
    ['\r=1', "'\r'=1"],
    ['\n=1', "'\n'=1"],
    ['=1+1\nof two lines', "'=1+1\nof two lines"],
    [' =1', "' =1"],
    ['\u00a0=1', "'\u00a0=1"],
    ['\uff1d1+1', "'\uff1d1+1"],
  ])('has no cell that acts as a formula: %j', (name, written) => {
    const rows = [row(1, { kind: 'waiting' }, { customer: { id: name, name } })];
    const [, [, , cell, id] = []] = cells(toCsv(rows, 'masked'));
    expect([cell, id]).toEqual([written, written]);
  });

  // Where the comma is the sign in 0,5, a spreadsheet splits at semicolons, and knows of no quotes within a cell.
  it.each([
    ['Grace;=1+1', "Grace;'=1+1"],
    ['Grace; @SUM(A1)', "Grace; '@SUM(A1)"],
    ['Grace\n=1+1', "Grace\n'=1+1"],
    ['Grace\t-1', "Grace\t'-1"],
    ['Grace,+1', "Grace,'+1"],
    ['Anne-Marie; née O’Hara', 'Anne-Marie; née O’Hara'],
  ])('has none either where a spreadsheet splits a cell: %j', (name, written) => {
    const rows = [row(1, { kind: 'waiting' }, { customer: { id: name, name } })];
    const [, [, , cell, id] = []] = cells(toCsv(rows, 'masked'));
    expect([cell, id]).toEqual([written, written]);
  });

  it('is the list that was given: its rows, its order, its own columns first', () => {
    const { file, listing } = fileOf(
      'case;phone;amount\r\n"C-1";+447700900001;-12,50\r\nC-2;+447700900002;=1+1\r\n\r\n' +
        'C-3;07700 900003;"7 ""x"""\r\nC-4;+44 7700 900001;8\r\nC-5;+447700900004 / +447700900005;9\r\n',
    );
    const clear = answered([NO, NO, NO, NO]);
    const rows = rowsOf(listing, [
      answered([YES, YES, YES, YES]),
      clear,
      clear,
      { kind: 'waiting' },
    ]);
    expect(countFormulas(file)).toBe(1);
    const csv = fileToCsv(file, rows, 'full');
    const lines = csv.split('\r\n');
    expect(lines.map((line) => line.split(';').slice(0, 3).join(';'))).toEqual([
      'case;phone;amount',
      `"C-1";'+447700900001;-12,50`,
      `C-2;'+447700900002;'=1+1`,
      ';;',
      'C-3;07700 900003;"7 ""x"""',
      `C-4;'+44 7700 900001;8`,
      `C-5;'+447700900004 / +447700900005;9`,
      '',
    ]);
    const of = (name: string) => {
      const [heading, ...data] = Papa.parse<string[]>(csv.trimEnd(), { delimiter: ';' }).data;
      return data.map((line) => line[heading?.indexOf(name) ?? -1]);
    };
    expect(of('Line')).toEqual(['2', '3', '4', '5', '6', '7']);
    // Of two numbers in a cell the riskiest counts: one that is not checked is never No change.
    expect(of('Result')).toEqual([
      'SIM changed',
      'No change',
      'Skipped',
      'Skipped',
      'SIM changed',
      'Not checked',
    ]);
    expect(of('Reason')).toEqual([
      '',
      '',
      'Empty line.',
      'Missing country code. Write it as +44 7700 900001.',
      'same number as in line 2',
      '1 of 2 numbers checked, the riskiest is shown',
    ]);
    expect(of('Number checked')[5]).toBe("'+447700900005");
    expect(of('Reference')).toEqual(['desk1', 'desk2', '', '', 'desk1', 'desk4']);
    // Masked by default, whatever form they were written in; and only some of the rows, with all of theirs.
    const masked = fileToCsv(file, rows, 'masked');
    expect(masked.replaceAll('Write it as +44 7700 900001', '')).not.toMatch(/7700/u);
    expect(masked).toContain('C-3;••••• •••003;"7 ""x"""');
    const some = fileToCsv(file, rows, 'full', rows.slice(0, 1)).trimEnd().split('\r\n');
    expect(some.map((line) => line.split(';')[0])).toEqual(['case', '"C-1"', 'C-4']);
  });

  it('has each row once, and the bytes of its own cells, whatever they are', () => {
    const cell = fc.oneof(
      fc.string(),
      fc.constantFrom('"', 'a "b"', 'x;y', '-5', 'été', 'a,b', ' '),
    );
    const style = fc.record({
      delimiter: fc.constantFrom(',', ';', '\t'),
      newline: fc.constantFrom('\n', '\r\n'),
      quotes: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell), { minLength: 2, maxLength: 12 }),
        style,
        (own, { delimiter, newline, quotes }) => {
          const write = (text: string): string =>
            quotes || new RegExp(`["\n${delimiter}]`, 'u').test(text)
              ? `"${text.replaceAll('"', '""')}"`
              : text;
          const source = own.map(
            ([first, last], index) =>
              [write(first), `+4477009000${String(index).padStart(2, '0')}`, write(last)] as const,
          );
          const text = ['a', 'phone', 'b']
            .join(delimiter)
            .concat(newline, source.map((line) => line.join(delimiter) + newline).join(''));
          const { file, listing } = fileOf(text);
          expect(listing.numbers).toHaveLength(own.length);
          const csv = fileToCsv(file, rowsOf(listing), 'full');
          const { data } = Papa.parse<string[]>(csv, { delimiter });
          expect(data).toHaveLength(own.length + 2);
          const runs =
            /^\s*[=+\-@\uff0b\uff0d\uff1d\uff20]|^[\t\r\n]|[;,|\t\r\n]\s{0,9}[=+\-@\uff0b\uff0d\uff1d\uff20]/u;
          let at = csv.indexOf(newline) + newline.length;
          for (const [index, [first]] of source.entries()) {
            const [plain = ''] = own[index] ?? [];
            const written = csv.slice(at, at + first.length + 1);
            expect(runs.test(plain) || written).toEqual(runs.test(plain) || first + delimiter);
            const next = source[index + 1];
            if (next === undefined) break;
            at =
              csv.indexOf(`desk${index + 1}${newline}`, at) + `desk${index + 1}${newline}`.length;
          }
        },
      ),
    );
  });

  it('can be uploaded again: the same numbers come out', () => {
    const { file, listing } = fileOf(
      'name,phone\nAda,+447700900001\nBo,07700 900002\nCy,+447700900003\n',
    );
    const again = fileOf(fileToCsv(file, rowsOf(listing), 'full'));
    expect(again.file.table.columns[again.file.column]).toBe('phone');
    expect(again.listing.numbers.map(({ e164 }) => e164)).toEqual([
      '+447700900001',
      '+447700900003',
    ]);
  });
});
