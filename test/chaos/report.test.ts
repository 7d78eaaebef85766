import { describe, expect, it } from 'vitest';
import type { Findings } from './chaos.ts';
import { chaosMarkdown, rowsOf, wrongnessOf } from './report.ts';
import { NOTHING_WRONG } from './nothingWrong.ts';

function findings(differences: Partial<Findings> = {}): Findings {
  return {
    exchanges: 1000,
    lookups: 400,
    answers: 300,
    refusals: new Map([['OPERATOR_TIMEOUT', 7]]),
    faults: new Map([['hang', 3]]),
    strayTokensRefused: 0,
    answeredOf: new Map([['default', 0.9]]),
    latestMs: 30,
    server: { longestTurnMs: 10, ownTurnMs: 8 },
    clients: { longestTurnMs: 4, ownTurnMs: 2 },
    wrong: NOTHING_WRONG,
    ...differences,
  };
}

const CIRCUMSTANCES = {
  exchanges: 2000,
  seed: 7,
  date: '2026-01-31',
  node: 'v24.0.0',
  cores: 2,
  loadAtStart: 0.3,
};

describe('the result of chaos', () => {
  it('has a row for each stretch, the sum of what is wrong, and how to run it again', () => {
    const wrong = { ...NOTHING_WRONG, billedTwice: 1, withoutAnEnd: 2 };
    const markdown = chaosMarkdown(
      [
        { title: 'one', findings: findings({ latestMs: 30 }) },
        { title: 'other', findings: findings({ latestMs: -5, wrong }) },
      ],
      CIRCUMSTANCES,
    );
    const rows = markdown.split('\n').filter((row) => row.startsWith('|'));
    const cells = rows.map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
    expect(cells.slice(2)).toEqual([
      ['one', '1000', '400', '300', '30', '2', '0'],
      ['other', '1000', '400', '300', '0', '0', '3'],
    ]);
    expect(markdown).toContain('`npm run long -- chaos --exchanges 2000 --seed 7`, 2026-01-31');
  });

  it.each([
    ['two turns of the server and of the clients', 28, '0'],
    ['more than that', 30, '2'],
  ])('says what is left of the lateness: %s', (_, latestMs, left) => {
    const rows = rowsOf(findings({ latestMs }));
    expect(rows).toContainEqual(['later than those turns explain, ms', left]);
  });

  it('is wrong by whatever must be zero and is not', () => {
    expect(wrongnessOf(NOTHING_WRONG)).toBe(0);
    expect(wrongnessOf({ ...NOTHING_WRONG, billedTwice: 1, withoutAnEnd: 2 })).toBe(3);
  });
});
