import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ERRORS } from '../src/errors.ts';
import { TEST_NUMBERS } from '../src/simulator/testNumbers.ts';
import { heardAbout } from './endToEnd/testNumberRows.ts';
import { settingNames } from './settingNames.ts';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

/** The rows of all of its tables, each as the texts of its cells. */
const ROWS = README.split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) => line.split('|').slice(1, -1))
  .map((cells) => cells.map((cell) => cell.trim()));

/** What the first cells of all rows name in backticks. */
const NAMED = ROWS.flatMap(([first = '']) =>
  [...first.matchAll(/`([^`]+)`/g)].map(([, one]) => one),
);

describe('the README', () => {
  test('lists the test numbers as they are, and no others', () => {
    const listed = ROWS.filter(([first = '']) => first.startsWith('`+'));

    expect(listed).toEqual(
      TEST_NUMBERS.map(({ number, does }) => [`\`${number}\``, does, heardAbout(number.slice(-3))]),
    );
  });

  test('names no setting that is none', () => {
    const upperCase = NAMED.filter((name) => /^[A-Z]+_[A-Z_]+$/.test(name ?? ''));
    const known = [...settingNames(), ...Object.keys(ERRORS)];

    expect(upperCase.filter((name) => !known.includes(name ?? ''))).toEqual([]);
  });
});
