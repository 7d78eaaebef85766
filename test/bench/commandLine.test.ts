import { expect, it } from 'vitest';
import { readOrder, UnfitArguments } from '../../bench/commandLine.ts';

const TABLES = ['cost', 'latency'];
const GOALS = ['TLS: CPU of one number', 'plain: CPU of one number'];

const read = (...args: readonly string[]) => readOrder(args, TABLES, GOALS);

it('with nothing said, everything is measured', () => {
  expect(read()).toEqual({
    kind: 'run',
    isQuick: false,
    tables: [],
    only: [],
    sustainedMinutes: 1,
  });
});

it('reads what is said', () => {
  const minutes = ['--sustained-minutes', '0.5'];

  expect(
    read('--quick', '--table', 'cost', '--only', 'tls: cpu', '--rounds', '3', ...minutes),
  ).toEqual({
    kind: 'run',
    isQuick: true,
    tables: ['cost'],
    only: ['tls: cpu'],
    rounds: 3,
    sustainedMinutes: 0.5,
  });
});

it('a report measures nothing, and takes nothing else', () => {
  expect(read('--report')).toEqual({ kind: 'report' });
  expect(() => read('--report', '--quick')).toThrow(UnfitArguments);
});

it.each([
  [['--quik']],
  [['cost']],
  [['--table', 'costs']],
  [['--rounds', '0']],
  [['--rounds', 'many']],
  [['--sustained-minutes', '-1']],
])('%j is told how it should be', (args) => {
  expect(() => read(...args)).toThrow(UnfitArguments);
  expect(() => read(...args)).toThrow(/--table .*cost, latency/);
});

it('what no goal says is refused with what the goals say', () => {
  expect(() => read('--only', 'quic')).toThrow(
    /No goal says 'quic'.*\nTLS: CPU of one number\nplain/,
  );
});
