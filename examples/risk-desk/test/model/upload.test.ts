import { describe, expect, it } from 'vitest';
import { decodeText } from '../../page/model/decodeText.ts';
import {
  likelyColumn,
  listNumbers,
  readTable,
  shownColumn,
  type Table,
} from '../../page/model/upload.ts';

function tableOf(text: string): Table {
  const reading = readTable(text);
  if (reading.kind !== 'table') throw new Error(reading.why);
  return reading.table;
}

function listOf(text: string) {
  const table = tableOf(text);
  const { numbers, duplicates, bad } = listNumbers(table, likelyColumn(table) ?? -1);
  return {
    numbers: numbers.map((one) => `${one.line} ${one.e164}`),
    duplicates: duplicates.map((one) => `${one.line} as ${one.firstLine}`),
    bad: bad.map((one) => `${one.line} ${one.why}`),
  };
}

const NONE = { duplicates: [], bad: [] };

describe('what is read of', () => {
  it.each([
    ['one number', '+447700900001', { numbers: ['1 +447700900001'], ...NONE }],
    [
      'numbers in lines, of Windows, with empty ones between',
      '+447700900001\r\n\r\n+447700900002\r\n',
      { numbers: ['1 +447700900001', '3 +447700900002'], ...NONE },
    ],
    [
      'numbers in one line',
      '+447700900001, +447700900002',
      { numbers: ['1 +447700900001', '1 +447700900002'], ...NONE },
    ],
    [
      'CSV with a heading, quotes and a semicolon',
      '\ufeffname;phone\n"Grace; Hopper";"+44 7700 900001"\nAda;+447700900002\n',
      { numbers: ['2 +447700900001', '3 +447700900002'], ...NONE },
    ],
    [
      'a number that is written in two ways',
      '+447700900001\n+44 7700 900-001',
      { numbers: ['1 +447700900001'], duplicates: ['2 as 1'], bad: [] },
    ],
    [
      'bad numbers among good ones',
      'phone\n+447700900001\n07700 900002\n',
      { numbers: ['2 +447700900001'], duplicates: [], bad: ['3 noCountryCode'] },
    ],
    [
      'a row without a number',
      'name,phone\nAda,+447700900001\nGrace,\n',
      { numbers: ['2 +447700900001'], duplicates: [], bad: ['3 empty'] },
    ],
  ])('%s', (_, text, expected) => {
    expect(listOf(text)).toEqual(expected);
  });
});

it('names columns by the heading, and finds the one of the numbers', () => {
  const table = tableOf('id,,mobile\n1,x,+447700900001\n');
  expect(table.columns).toEqual(['id', 'Column 2', 'mobile']);
  expect(likelyColumn(table)).toBe(2);
});

it.each([
  ['nothing', ' \n \n', 'It is empty.'],
  ['a spreadsheet file', 'PK\u0003\u0004…', 'Save it as CSV first: in Excel'],
  ['bytes that are no text', '\u0000\u0001', 'Save it as CSV first.'],
  ['a text in another encoding', 'n\ufffdmero', 'Save it as CSV first.'],
  ['more than 5 MB', '1'.repeat(5 * 1024 * 1024 + 1), 'larger than 5 MB'],
])('%s is refused with what to do', (_, text, says) => {
  expect(readTable(text)).toEqual({ kind: 'refused', why: expect.stringContaining(says) });
});

describe('a first line', () => {
  it.each(['+44 7700 90000x', '4.47701E+11', '+٤٤٧٧٠٠٩٠٠٠٠١'])(
    'with a bad number is no heading: %s',
    (bad) => {
      expect(listOf(`${bad}\n+447700900002`)).toEqual({
        numbers: ['2 +447700900002'],
        duplicates: [],
        bad: [expect.stringMatching(/^1 /)],
      });
    },
  );

  it.each(['phone', 'Mobile 2', 'MSISDN (E.164)'])('is a heading all the same: %s', (heading) => {
    const table = tableOf(`${heading}\n+447700900002`);
    expect(table.columns).toEqual([heading]);
    expect(table.rows).toHaveLength(1);
  });
});

describe('a file that is made to hurt', () => {
  it('of one line with millions of cells is refused', () => {
    expect(readTable(`a${','.repeat(5_000_000)}`)).toEqual({
      kind: 'refused',
      why: expect.stringContaining('columns'),
    });
  });

  it.each([
    ['first', '"+447700900001\n+447700900002', 1],
    ['middle', '+447700900001\n"+447700900002\n+447700900003\n', 2],
  ])(
    'with a quotation mark that never ends, in the %s line, is refused: no number is lost',
    (_, text, line) => {
      expect(readTable(text)).toEqual({
        kind: 'refused',
        why: expect.stringContaining(`in line ${line} is never closed`),
      });
    },
  );

  it('with one wide line among many costs no more than its cells', () => {
    const table = tableOf(`${'a,'.repeat(150)}\n${'+447700900001\n'.repeat(20_000)}`);
    const cells = table.rows.reduce((sum, row) => sum + row.cells.length, 0);
    expect(cells).toBeLessThanOrEqual(20_200);
  });
});

const twoRows = (first: string, second: string) => [
  `${first}\n07700 900001,020 7946 0001\n07700 900002,020 7946 0002\n`,
  second,
];

describe('the column', () => {
  it.each([
    // By what is in it, not by its name.
    ['a,b\nAda,+447700900001\nBo,+447700900002\n', 'b'],
    ['number,line\nINV-20260001,07700 900001\nINV-20260002,07700 900002\n', 'line'],
    ['opened,balance,contact\n2011-02-11,1234567.50,07700 900001\n', 'contact'],
    ['phone,remark\n07700 900001,call +447700900009\n07700 900002,-\n', 'phone'],
    // Of two with numbers, the mobile one.
    twoRows('mobile,home', 'mobile'),
    twoRows('Home phone,Mobile phone', 'Mobile phone'),
    twoRows('phone,fax', 'phone'),
    // What a spreadsheet has made of it, so that it can be said.
    ['id,phone\n1,4.4770E+11\n2,4.4770E+11\n', 'phone'],
  ])('of %j is %s', (text, expected) => {
    const table = tableOf(text ?? '');
    expect(table.columns[likelyColumn(table) ?? -1]).toBe(expected);
  });

  it.each([
    ['a list of names', 'name\nAda\nGrace\n'],
    ['dates and amounts', 'day,amount\n2026-01-02,1234567.89\n2026-01-03,2345678.90\n'],
    ['a letter', 'Dear Ada,\nyour account was opened in 2011.\nYours, Grace\n'],
  ])('that looks like phone numbers is missing in %s', (_, text) => {
    expect(readTable(text)).toEqual({
      kind: 'refused',
      why: expect.stringContaining('No column looks like phone numbers.'),
    });
  });
});

describe('numbers without +', () => {
  const table = tableOf('phone\n07700 900001\n447700900001\n+447700900002\n+44 (0)7700 900003\n');

  it('are listed with their values until a country is chosen', () => {
    const { numbers, bad, withoutCode } = listNumbers(table, 0);
    expect(numbers.map(({ e164 }) => e164)).toEqual(['+447700900002', '+447700900003']);
    expect(bad.map(({ text }) => text)).toEqual(['07700 900001', '447700900001']);
    expect(withoutCode).toBe(2);
  });

  it('are shown with what each becomes', () => {
    const { completed, bad, duplicates, withoutCode } = listNumbers(table, 0, 'GB');
    expect(completed).toEqual([
      { line: 2, text: '07700 900001', e164s: ['+447700900001'] },
      { line: 3, text: '447700900001', e164s: ['+447700900001'] },
      { line: 5, text: '+44 (0)7700 900003', e164s: ['+447700900003'] },
    ]);
    expect([bad.length, duplicates.length, withoutCode]).toEqual([0, 1, 2]);
  });
});

const bytes = (...list: number[]) => Uint8Array.from(list);

describe('a file', () => {
  it.each([
    // Its export is written alike, and what browsers cannot write as UTF-8 with a mark.
    ['UTF-8', new TextEncoder().encode('Zoë,+44'), 'Zoë,+44', false],
    ['UTF-8 with its mark', bytes(0xef, 0xbb, 0xbf, 0x2b), '+', true],
    ['Windows-1252', bytes(0x5a, 0x6f, 0xeb, 0x2c, 0x80), 'Zoë,€', true],
    ['UTF-16', bytes(0xff, 0xfe, 0x2b, 0, 0xeb, 0), '+ë', true],
    ['UTF-16, big end first', bytes(0xfe, 0xff, 0, 0x2b, 0, 0xeb), '+ë', true],
  ])('in %s is read', (_, file, text, hasMark) => {
    expect(decodeText(file)).toEqual({ text, hasMark });
  });
});

it('a column of the list’s own is as wide as its cells, and says where its name is ours too', () => {
  const table = tableOf(
    'Customer;phone;Amount;Note\nAda;+447700900001;€1,200.50;see the letter of the ninth of May\nBo;+447700900002;7;\n',
  );
  expect([0, 2, 3].map((index) => shownColumn(table, index))).toEqual([
    { index: 0, name: 'Customer (list)', width: 15, isAmount: false },
    { index: 2, name: 'Amount', width: 9, isAmount: true },
    { index: 3, name: 'Note', width: 22, isAmount: false },
  ]);
});
