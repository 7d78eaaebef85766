import { parse, type DocumentNode } from 'graphql';
import { expect, it } from 'vitest';
import { DocumentStore } from '../../src/graphql/documents.ts';

const KIBIBYTE = 1024;

/** A document of `fields` fields, behind so many comments. */
function documentOf(fields: number, comments = 0): DocumentNode {
  const names = Array.from({ length: fields }, (_, index) => `a${index}`);
  return parse(`${'#\n'.repeat(comments)}{ ${names.join(' ')} }`);
}

/** What a store of one document holds for it. */
function weightOf(document: DocumentNode): number {
  const store = new DocumentStore(1e9);
  void store.set('it', document);
  return store.bytes;
}

it('keeps what was stored, and forgets what it must', async () => {
  const store = new DocumentStore(64 * KIBIBYTE);
  const document = documentOf(3);
  await store.set('a', document);
  expect(await store.get('a')).toBe(document);
  expect(await store.get('b')).toBeUndefined();
  expect(await store.delete('a')).toBe(true);
  expect(await store.delete('a')).toBe(false);
  expect(await store.get('a')).toBeUndefined();
  expect(store.bytes).toBe(0);
});

it.each([
  ['tokens', documentOf(1000), 1000 * 510],
  ['comments', documentOf(1, 1000), 1000 * 100],
  ['its source', parse(`{ ${'a'.repeat(100_000)} }`), 100_000],
])('weighs %s', (_, document, leastBytes) => {
  expect(weightOf(document)).toBeGreaterThanOrEqual(leastBytes);
});

it('never holds more than it may; the document that was not asked for the longest goes first', async () => {
  const document = documentOf(10);
  const store = new DocumentStore(3 * weightOf(document));
  for (const key of ['a', 'b', 'c']) await store.set(key, document);
  await store.get('a');
  await store.set('d', document);

  expect(store.bytes).toBeLessThanOrEqual(3 * weightOf(document));
  const kept = await Promise.all(['a', 'b', 'c', 'd'].map((key) => store.get(key)));
  expect(kept.map((one) => one !== undefined)).toEqual([true, false, true, true]);
});

it('does not empty itself for a document that is too large for it', async () => {
  const small = documentOf(1);
  const store = new DocumentStore(2 * weightOf(small));
  await store.set('small', small);
  await store.set('large', documentOf(1000));
  expect(await store.get('large')).toBeUndefined();
  expect(await store.get('small')).toBe(small);
});

it('counts a document once that is stored twice', async () => {
  const document = documentOf(10);
  const store = new DocumentStore(1e9);
  await store.set('a', document);
  await store.set('a', document);
  expect(store.bytes).toBe(weightOf(document));
});
