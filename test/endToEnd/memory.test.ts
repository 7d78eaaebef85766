import { expect, test } from 'vitest';
import { PARSE_LIMITS } from '../../src/graphql/documentDepth.ts';
import { ServerProcess } from './serverProcess.ts';

const MEBIBYTE = 1024 * 1024;
const NOWHERE = 'http://127.0.0.1:1';

async function ask(url: string, query: string): Promise<string> {
  const reply = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return reply.text();
}

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

test('17 documents of a megabyte of comments do not end a process of 512 MB', async () => {
  await using server = await ServerProcess.start(NOWHERE, {
    NODE_OPTIONS: '--max-old-space-size=512',
  });
  for (let index = 0; index < 17; index += 1) {
    expect(await ask(server.url, comments(index))).toContain('GRAPHQL_PARSE_FAILED');
  }
  expect(await ask(server.url, '{ __typename }')).toBe('{"data":{"__typename":"Query"}}\n');
}, 120_000);

test('however many documents are served, those that are kept have a bound', async () => {
  await using server = await ServerProcess.start(NOWHERE, {
    NODE_OPTIONS: '--max-old-space-size=100',
  });
  for (let index = 0; index < 100; index += 1) {
    expect(await ask(server.url, largest(index))).toContain('{"data":{');
  }
  expect(await ask(server.url, '{ __typename }')).toBe('{"data":{"__typename":"Query"}}\n');
}, 120_000);
