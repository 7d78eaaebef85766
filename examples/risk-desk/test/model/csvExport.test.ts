import fc from 'fast-check';
import Papa from 'papaparse';
import { describe, expect, it } from 'vitest';
import { toCsv } from '../../page/model/csvExport.ts';
import { likelyColumn, listNumbers, readTable } from '../../page/model/upload.ts';
import { answer, answered, AS_OF_MS, NO, row, unknown, YES } from './rows.ts';

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
      "1|'+447700900001|Customer 1|C1|SIM changed||1970-01-01T00:00:00.000Z||no|yes|yes|yes|2026-11-22T12:00:00.000Z",
      "2|'+447700900002|Customer 2|C2|Unknown|Window too long|not disclosed||no|no|no|unknown: Window too long|2026-11-22T12:00:00.000Z",
      `3|'+447700900003|||Unknown|Operator too slow${'|not known'.repeat(6)}|`,
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
    expect(of('Verdict')).toEqual(['New line', 'New line']);
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
    ['-1', "'-1"],
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

  it('can be uploaded again: the same numbers come out, whatever the customers are called', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 2, maxLength: 20 }), (names) => {
        const rows = names.map((name, index) =>
          row(index + 1, { kind: 'waiting' }, { customer: { id: String(index), name } }),
        );
        const reading = readTable(toCsv(rows, 'full'));
        if (reading.kind !== 'table') throw new Error(reading.why);
        const { table } = reading;
        const column = likelyColumn(table) ?? -1;
        expect(table.columns[column]).toBe('Number');
        const { numbers, bad } = listNumbers(table, column);
        expect(numbers.map(({ e164 }) => e164)).toEqual(rows.map(({ e164 }) => e164));
        expect(bad).toEqual([]);
      }),
    );
  });
});
