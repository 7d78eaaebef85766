import { expect, test } from 'vitest';
import { MAX_LINES, PARSE_LIMITS } from '../../src/graphql/documents.ts';
import { ServerProcess } from './serverProcess.ts';

/** What a body may have by default. */
const MAX_BODY_BYTES = 366_240;

/** A document of as many comments as it may have lines, whose body has as many bytes as a body may have. */
function comments(index: number): string {
  const start = `{ a${index}: __typename }`;
  const lines = MAX_LINES - 1;
  // In JSON a line break is two characters.
  const length = Math.floor((MAX_BODY_BYTES - start.length - '{"query":""}'.length) / lines) - 2;
  return start + `${'#'.padEnd(length)}\n`.repeat(lines);
}

/** A document as long, and of as many tokens, as one may be. */
function largest(index: number): string {
  const fields = Array.from({ length: 1990 / 3 }, (_, field) => `f${index}_${field}: __typename`);
  const document = `{ ${fields.join(' ')} }`;
  return document + ' '.repeat(PARSE_LIMITS.maxSourceLength - document.length);
}

test('neither 3 documents of comments, as long as a body may be, nor 60 that are served and kept end a process', async () => {
  await using server = await ServerProcess.start('http://127.0.0.1:1', {
    NODE_OPTIONS: '--max-old-space-size=48',
  });
  for (let index = 0; index < 3; index += 1) {
    expect((await server.ask(comments(index))).text).toContain('GRAPHQL_PARSE_FAILED');
  }
  for (let index = 0; index < 60; index += 1) {
    expect((await server.ask(largest(index))).text).toContain('{"data":{');
  }
  expect((await server.ask('{ __typename }')).text).toBe('{"data":{"__typename":"Query"}}\n');
});
