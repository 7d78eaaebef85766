import { expect, it } from 'vitest';
import { readOrder, UnfitArguments } from '../../bench/commandLine.ts';

const TABLES = ['cost', 'latency'];

it('with nothing said, everything is measured', () => {
  expect(readOrder([], TABLES)).toEqual({ isQuick: false, tables: [], sustainedMinutes: 1 });
});

it('reads what is said', () => {
  const args = ['--quick', '--table', 'cost', '--rounds', '3', '--sustained-minutes', '0.5'];

  expect(readOrder(args, TABLES)).toEqual({
    isQuick: true,
    tables: ['cost'],
    rounds: 3,
    sustainedMinutes: 0.5,
  });
});

it.each([
  [['--quik']],
  [['cost']],
  [['--table', 'costs']],
  [['--rounds', '0']],
  [['--rounds', 'many']],
  [['--sustained-minutes', '-1']],
])('%j gets told how it should be', (args) => {
  expect(() => readOrder(args, TABLES)).toThrow(UnfitArguments);
  expect(() => readOrder(args, TABLES)).toThrow(/--table .*cost, latency/);
});
