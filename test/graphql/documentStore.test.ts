import { parse, type DocumentNode } from 'graphql';
import { expect, it } from 'vitest';
import { documentBytes } from '../../src/graphql/documents.ts';

/** A document of so many fields, after so many comments. */
function documentOf(fields: number, comments = 0): DocumentNode {
  const names = Array.from({ length: fields }, (_, index) => `a${index}`);
  return parse(`${'#\n'.repeat(comments)}{ ${names.join(' ')} }`);
}

it.each([
  ['tokens', documentOf(1000), 1000 * 510],
  ['comments', documentOf(1, 1000), 1000 * 100],
  ['its source', parse(`{ ${'a'.repeat(100_000)} }`), 100_000],
])('the bytes of a kept document include %s', (_, document, leastBytes) => {
  expect(documentBytes(document)).toBeGreaterThanOrEqual(leastBytes);
});
