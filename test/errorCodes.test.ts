import { describe, expect, test } from 'vitest';
import { ERRORS } from '../src/domain/errors.ts';
import { createSchema } from '../src/graphql/schema.ts';
import { textOf } from './support/documents.ts';

const CODES = Object.entries(ERRORS);

describe('every code', () => {
  test.each(CODES)('%s has a message for people', (_, message) => {
    expect(message).not.toMatch(/\d|\/\/|undefined/);
    // Apollo's own words have no full stop.
    expect(message).toMatch(/^(?:[A-Z].*\.|Internal server error)$/);
  });

  test('has its section in docs/errors.md, which has no other: its message, for whom it is, and what to do', () => {
    const sections = textOf('docs/errors.md').matchAll(
      /^## (.+)\n\n_(.+)_ \*\*(?:client|platform)\*\*: .+$/gm,
    );

    expect(Array.from(sections, ([, code, message]) => [code, message])).toEqual(
      CODES.map(([code, message]) => [code, message]),
    );
  });

  test('is in one list: the description of PhoneNumber leads to it, and repeats none', () => {
    const description = createSchema('bff').getType('PhoneNumber')?.description ?? '';

    expect(description).toContain('docs/errors.md');
    expect(CODES.filter(([code]) => description.includes(code))).toEqual([]);
  });
});
