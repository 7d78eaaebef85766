import { expect, it } from 'vitest';
import { textOf } from '../support/documents.ts';
import { PARTS } from './mutants.ts';

// `npm run long -- mutants` makes them.
it.each(PARTS)('$file has the text of each of its mutants once', ({ file, mutants }) => {
  const text = textOf(file);
  expect(mutants.filter(([old]) => text.split(old).length !== 2)).toEqual([]);
});
