import { describe, expect, test } from 'vitest';
import { ERRORS } from '../src/domain/errors.ts';
import { REHEARSALS } from '../src/graphql/rehearsals.ts';
import { TEST_NUMBERS } from '../simulator/testNumbers.ts';
import { heardAbout } from './endToEnd/testNumberRows.ts';
import { rowsOf, textOf } from './support/documents.ts';
import { VARIABLE_NAMES } from '../src/config/settings.ts';

describe('docs/testing.md', () => {
  test('lists the test numbers as they are, and no others', () => {
    const listed = rowsOf(textOf('docs/testing.md')).filter(([first]) => first?.startsWith('`+'));

    expect(listed).toEqual([
      ...TEST_NUMBERS.map(({ number, does }) => [
        `\`${number}\``,
        does,
        heardAbout(number.slice(-3)),
      ]),
      ...REHEARSALS.map(({ number, does, answer }) => [
        `\`${number}\``,
        does,
        `\`${answer === 'FORBIDDEN' ? answer : answer.code}\``,
      ]),
    ]);
  });
});

describe('the README', () => {
  test('names no setting that is none', () => {
    const upperCase = Array.from(
      textOf('README.md').matchAll(/\b[A-Z]+_[A-Z_]+\b/g),
      ([name]) => name,
    );
    const known: readonly string[] = [...VARIABLE_NAMES, ...Object.keys(ERRORS)];

    expect(upperCase.filter((name) => !known.includes(name))).toEqual([]);
  });

  test('is two screens: what it is for, two commands, the answer, three users, where next', () => {
    const lines = textOf('README.md').trimEnd().split('\n');

    expect(lines.length).toBeLessThanOrEqual(80);
    expect(lines.join(' ').split(/[\s|-]+/).length).toBeLessThanOrEqual(700);
  });
});
