import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ERRORS, type ErrorDescription, type ErrorPlace } from '../src/domain/errors.ts';
import { createSchema } from '../src/graphql/schema.ts';

const CODES = Object.entries<ErrorDescription>(ERRORS);

function read(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
}

/** The rows of all tables of a document, each as the texts of its cells. */
function rowsOf(markdown: string): readonly (readonly string[])[] {
  return markdown
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()));
}

/** The codes that can stand at a place. */
function placed(place: ErrorPlace): string[] {
  return CODES.filter(([, { places }]) => places.includes(place)).map(([code]) => code);
}

/** What stands in backticks and looks like a code of ours, and like no setting. */
function codesIn(text: string): readonly string[] {
  const known = [...text.matchAll(/`([A-Z]+(?:_[A-Z]+)*)`/g)].map(([, code = '']) => code);
  return [...new Set(known)];
}

describe('every code', () => {
  test.each(CODES)('%s has a message for people', (_, { message }) => {
    expect(message).not.toMatch(/\d|\/\/|undefined/);
    // Apollo's own words have no full stop.
    expect(message).toMatch(/^(?:[A-Z].*\.|Internal server error)$/);
  });

  test('has its section in docs/errors.md, which has no other', () => {
    const sections = read('docs/errors.md').matchAll(/^## ([A-Z_]+)\n\n(.+)$/gm);

    expect(Array.from(sections, ([, code, text]) => [code, text])).toEqual(
      CODES.map(([code, { message, remedy, audience }]) => [
        code,
        `_${message}_ **${audience}**: ${remedy}`,
      ]),
    );
  });

  test('of a field is in the description of PhoneNumber, and none of a request is', () => {
    const description = createSchema('bff').getType('PhoneNumber')?.description ?? '';

    const described = codesIn(description);
    expect(described).toEqual(expect.arrayContaining(placed('field')));
    expect([...placed('field'), ...placed('operation')]).toEqual(
      expect.arrayContaining([...described]),
    );
  });

  test('is in docs/adopting.md, for those who can do something about it, and no other is', () => {
    const named = rowsOf(read('docs/adopting.md')).flatMap(([first = '']) => codesIn(first));

    expect([...new Set(named)].toSorted()).toEqual(CODES.map(([code]) => code).toSorted());
  });
});
