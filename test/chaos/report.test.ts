import { describe, expect, it } from 'vitest';
import type { Findings } from './chaos.ts';
import { chaosMarkdown, rowsOf } from './report.ts';
import { WRONG, type Wrongness } from './wrongness.ts';

const NOTHING_WRONG = Object.fromEntries(Object.keys(WRONG).map((name) => [name, 0])) as Wrongness;

function findings(latestMs: number, wrong: Partial<Wrongness> = {}): Findings {
  return {
    exchanges: 1000,
    lookups: 400,
    answers: 300,
    refusals: new Map([['OPERATOR_TIMEOUT', 7]]),
    faults: new Map([['hang', 3]]),
    strayTokensRefused: 0,
    answeredOf: new Map([['default', 0.9]]),
    latestMs,
    server: { longestTurnMs: 10, ownTurnMs: 8 },
    clients: { longestTurnMs: 4, ownTurnMs: 2 },
    wrong: { ...NOTHING_WRONG, ...wrong },
  };
}

describe('the result of chaos', () => {
  it('has a row for each stretch, the sum of what is wrong, and how to run it again', () => {
    const stretches = [
      { title: 'one', findings: findings(30) },
      { title: 'other', findings: findings(-5, { billedTwice: 1, withoutAnEnd: 2 }) },
    ];
    const machine = { date: '2026-01-31', node: 'v24.0.0', cores: 2, loadAtStart: 0.3 };
    const markdown = chaosMarkdown(stretches, { exchanges: 2000, seed: 7, ...machine });
    const rows = markdown.split('\n').filter((row) => row.startsWith('|'));
    const cells = rows.map((row) => row.split('|').slice(1, -1));
    expect(cells.slice(2).map((row) => row.map((cell) => cell.trim()))).toEqual([
      ['one', '1000', '400', '300', '30', '2', '0'],
      ['other', '1000', '400', '300', '0', '0', '3'],
    ]);
    expect(markdown).toContain('`npm run long -- chaos --exchanges 2000 --seed 7`, 2026-01-31');
  });

  it.each([
    ['two turns of the server and of the clients', 28, '0'],
    ['more than that', 30, '2'],
  ])('says what is left of the lateness: %s', (_, latestMs, left) => {
    expect(rowsOf(findings(latestMs))).toContainEqual(['later than those turns explain, ms', left]);
  });
});
