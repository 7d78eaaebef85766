import { describe, expect, it } from 'vitest';
import { likelyColumn, listNumbers, readTable, type Table } from '../../page/model/upload.ts';

function tableOf(text: string): Table {
  const reading = readTable(text);
  if (reading.kind !== 'table') throw new Error(reading.why);
  return reading.table;
}

function listOf(text: string) {
  const table = tableOf(text);
  const { numbers, duplicates, bad } = listNumbers(table, likelyColumn(table));
  return {
    numbers: numbers.map((one) => [one.line, one.e164]),
    duplicates: duplicates.map((one) => [one.line, one.firstLine]),
    bad: bad.map((one) => [one.line, one.why]),
  };
}

const NONE = { duplicates: [], bad: [] };

describe('what is read of', () => {
  it.each([
    ['one number', '+447700900001', { numbers: [[1, '+447700900001']], ...NONE }],
    [
      'numbers in lines, of Windows, with empty ones between',
      '+447700900001\r\n\r\n+447700900002\r\n',
      {
        numbers: [
          [1, '+447700900001'],
          [3, '+447700900002'],
        ],
        ...NONE,
      },
    ],
    [
      'numbers in one line',
      '+447700900001, +447700900002',
      {
        numbers: [
          [1, '+447700900001'],
          [1, '+447700900002'],
        ],
        ...NONE,
      },
    ],
    [
      'CSV with a heading, quotes and a semicolon',
      '\ufeffname;phone\n"Grace; Hopper";"+44 7700 900001"\nAda;+447700900002\n',
      {
        numbers: [
          [2, '+447700900001'],
          [3, '+447700900002'],
        ],
        ...NONE,
      },
    ],
    [
      'a number that is written in two ways',
      '+447700900001\n+44 7700 900-001',
      { numbers: [[1, '+447700900001']], duplicates: [[2, 1]], bad: [] },
    ],
    [
      'bad numbers among good ones',
      'phone\n+447700900001\n07700 900002\n',
      { numbers: [[2, '+447700900001']], duplicates: [], bad: [[3, 'national']] },
    ],
    [
      'a row without a number',
      'name,phone\nAda,+447700900001\nGrace,\n',
      { numbers: [[2, '+447700900001']], duplicates: [], bad: [[3, 'empty']] },
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
  ['nothing', ' \n \n'],
  ['a spreadsheet file', 'PK\u0003\u0004…'],
  ['bytes that are no text', '\u0000\u0001'],
  ['a text in another encoding', 'n\ufffdmero'],
  ['more than 5 MB', '1'.repeat(5 * 1024 * 1024 + 1)],
])('%s is refused with what to do', (_, text) => {
  const reading = readTable(text);
  expect(reading).toMatchObject({ kind: 'refused', why: expect.stringMatching(/^[A-Z].*\.$/) });
});

describe('a first line', () => {
  it.each(['+44.7700.900001', '+44/7700/900001', '4.47701E+11', '+٤٤٧٧٠٠٩٠٠٠٠١'])(
    'with a bad number is no heading: %s',
    (bad) => {
      expect(listOf(`${bad}\n+447700900002`)).toEqual({
        numbers: [[2, '+447700900002']],
        duplicates: [],
        bad: [[1, expect.any(String)]],
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
        why: expect.stringContaining(`in line ${line} has no end`),
      });
    },
  );

  it('with one wide line among many costs no more than its cells', () => {
    const table = tableOf(`${'a,'.repeat(150)}\n${'a\n'.repeat(20_000)}`);
    const cells = table.rows.reduce((sum, row) => sum + row.cells.length, 0);
    expect(cells).toBeLessThanOrEqual(20_200);
  });
});
