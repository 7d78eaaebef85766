import { expect, it } from 'vitest';
import { fallen, pageOf, rowOf, rowsOf } from '../../compatibility/page.ts';

const findings = (...failures: readonly (string | undefined)[]) =>
  failures.map((failure, index) => ({ about: `rule ${index}`, failure }));

const row = (...failures: readonly (string | undefined)[]) =>
  rowOf('a judge', '1.2.3', findings(...failures));

it('reads the rows of a page as they were written, whatever their findings say', () => {
  const rows = [row(undefined, 'a | b\n  c'), row(), rowOf('another', '1, 2', findings(undefined))];
  expect(rows[0]).toMatchObject({ passed: 1, total: 2, fails: 'rule 1: a / b c' });
  expect(rowsOf(pageOf(rows))).toEqual(rows);
});

it.each<[string, ReturnType<typeof row>, ReturnType<typeof row>, boolean]>([
  ['the same', row(undefined, 'x'), row(undefined, 'x'), false],
  ['one more passes', row(undefined, 'x'), row(undefined, undefined), false],
  ['one more is judged, and passes', row('x'), row('x', undefined), false],
  ['one no longer passes', row(undefined, undefined), row(undefined, 'x'), true],
  ['one more is judged, and fails', row(undefined), row(undefined, 'x'), true],
  ['one that passed is no longer judged', row(undefined, undefined), row(undefined), true],
  ['it does not run', row(undefined), rowOf('a judge', '1.2.3', findings('throws')), true],
  ['it is new', rowOf('another', '1', []), row('x'), false],
])('a row that fell fails: %s', (_, before, after, fails) => {
  expect(fallen([before], [after])).toHaveLength(fails ? 1 : 0);
});
