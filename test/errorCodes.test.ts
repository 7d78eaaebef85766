import { describe, expect, test } from 'vitest';
import { ERRORS, type ErrorDescription } from '../src/domain/errors.ts';
import { createSchema } from '../src/graphql/schema.ts';
import { textOf } from './support/documents.ts';

const CODES = Object.entries<ErrorDescription>(ERRORS);

function placed(place: ErrorDescription['places'][number]): string[] {
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

  test('has its section in docs/errors.md, which has no other: its message, for whom it is, and what to do', () => {
    const sections = textOf('docs/errors.md').matchAll(
      /^## (.+)\n\n_(.+)_ \*\*(?:client|platform)\*\*: .+$/gm,
    );

    expect(Array.from(sections, ([, code, message]) => [code, message])).toEqual(
      CODES.map(([code, { message }]) => [code, message]),
    );
  });

  test('of a field is in the description of PhoneNumber, and none of a request is', () => {
    const description = createSchema('bff').getType('PhoneNumber')?.description ?? '';

    const described = codesIn(description);
    const known = [...placed('field'), ...placed('operation')];
    expect(placed('field').filter((code) => !described.includes(code))).toEqual([]);
    expect(described.filter((code) => !known.includes(code))).toEqual([]);
  });
});
