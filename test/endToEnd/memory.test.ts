import { expect, test } from 'vitest';
import { PARSE_LIMITS } from '../../src/graphql/documents.ts';
import { ServerProcess } from './serverProcess.ts';

const MEBIBYTE = 1024 * 1024;

/** A document of comments, whose body has as many bytes as a body may have. */
function comments(index: number): string {
  const start = `{ a${index}: __typename }`;
  // Three bytes each: in JSON a line break is two characters.
  return start + '#\n'.repeat(Math.floor((MEBIBYTE - start.length - '{"query":""}'.length) / 3));
}

/** A document as long, and of as many tokens, as one may be. */
function largest(index: number): string {
  const fields = Array.from({ length: 1990 / 3 }, (_, field) => `f${index}_${field}: __typename`);
  const document = `{ ${fields.join(' ')} }`;
  return document + ' '.repeat(PARSE_LIMITS.maxSourceLength - document.length);
}

test.each([
  ['17 documents of a megabyte of comments', 17, 512, comments, 'GRAPHQL_PARSE_FAILED'],
  ['60 documents that are served and kept', 60, 48, largest, '{"data":{'],
])('%s do not end a process', async (_what, count, heapMiB, documentOf, told) => {
  await using server = await ServerProcess.start('http://127.0.0.1:1', {
    NODE_OPTIONS: `--max-old-space-size=${heapMiB}`,
  });
  for (let index = 0; index < count; index += 1) {
    expect((await server.ask(documentOf(index))).text).toContain(told);
  }
  expect((await server.ask('{ __typename }')).text).toBe('{"data":{"__typename":"Query"}}\n');
});
