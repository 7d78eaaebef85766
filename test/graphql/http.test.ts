import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { costs, startSimulated } from '../support/service.ts';

const service = await startSimulated({ ROLE: 'bff' });
beforeEach(() => service.simulator.resetStats());
afterAll(() => service.stop());

const JSON_TYPE = { 'content-type': 'application/json' };
const QUERY = '{ phoneNumber(e164: "+447700900001") { simSwappedWithin } }';
/** Nothing is served by a hash, nor by a document in place of one. */
const BY_HASH = { persistedQuery: { version: 1, sha256Hash: QUERY } };
const GET = `/graphql?query=${encodeURIComponent(QUERY)}`;
const MEBIBYTE = 1024 * 1024;
/** A document, 1,000 numbers, and the rest. */
const MAX_BODY_BYTES = 256 * 1024 + 1000 * 100 + 4 * 1024;
/** Ten times 100 representations, and 512 beside them. */
const MAX_VALUES = 3512;
const TOO_LONG = new RegExp(`^A body may have ${MAX_BODY_BYTES} bytes`);

const post = (body: string, headers: Record<string, string> = JSON_TYPE): RequestInit => ({
  method: 'POST',
  headers,
  body,
});

const asked = (type: string) => post('{}', { 'content-type': type });
const encoded = (encoding: string, body = '{}') =>
  post(body, { 'content-type': 'application/json', 'content-encoding': encoding });
const about = (members: object) => post(JSON.stringify(members));
/** A body with this many commas and opening brackets, and some that are in strings. */
const withValues = (values: number) =>
  about({ query: QUERY, text: '[,\\",{"', junk: Array.from({ length: values - 3 }, () => 0) });

const NO_QUERY = /^The body has no query\. Send \{"query": "…"\}/;

describe('an invalid request', () => {
  it.each<[string, RequestInit, number, RegExp, path?: string]>([
    ['not JSON', post('query=1'), 400, /Send \{"query": "…"\}/],
    ['half of JSON', post('{"query":"{ __typename'), 400, /Send \{"query": "…"\}/],
    ['an empty body', post(''), 400, /Send \{"query": "…"\}/],
    ['an array', post(`[${JSON.stringify({ query: QUERY })}]`), 400, /one operation per request/],
    ['an empty array', post('[]'), 400, /one operation per request/],
    ['null', post('null'), 400, /not a JSON object/],
    ['a string', post('"{ __typename }"'), 400, /not a JSON object/],
    ['an empty object', post('{}'), 400, NO_QUERY],
    ['an object without a query', about({ variables: {} }), 400, NO_QUERY],
    ['a misspelt query', about({ qeury: QUERY }), 400, NO_QUERY],
    ['the id of a document', about({ documentId: 'x' }), 400, /accepts documents, not hashes/],
    ['a query that is not a string', about({ query: 7 }), 400, /queries must be strings/],
    ['variables in a string', about({ query: QUERY, variables: '{}' }), 400, /variables/],
    ['variables in a list', about({ query: QUERY, variables: [1] }), 400, /variables/],
    ['extensions in a string', about({ query: QUERY, extensions: '{}' }), 400, /extensions/],
    ['extensions in a list', about({ query: QUERY, extensions: [1] }), 400, /extensions/],
    ['a number as extensions', about({ query: QUERY, extensions: 1 }), 400, /extensions/],
    ['an empty query', about({ query: '' }), 400, /query/],
    ['a hash', about({ extensions: BY_HASH }), 200, /^PersistedQueryNotSupported$/],
    ['a hash and its query', about({ query: QUERY, extensions: BY_HASH }), 200, /NotSupported$/],
    ['a form', asked('application/x-www-form-urlencoded'), 415, /application\/json/],
    ['text', asked('text/plain'), 415, /application\/json/],
    ['only GraphQL', asked('application/graphql'), 415, /application\/json/],
    ['JSON sequences', asked('application/json-seq'), 415, /application\/json/],
    ['UTF-16', asked('application/json; charset=utf-16'), 415, /UTF-8/],
    ['Latin-1', asked('application/json;a="b" ; Charset = "ISO-8859-1"'), 415, /UTF-8/],
    ['two charsets', asked('application/json; charset=utf-8; charset=utf-7'), 415, /UTF-8/],
    ['gzip', encoded('gzip'), 415, /without the header content-encoding/],
    ['two encodings', encoded('identity, br'), 415, /without the header content-encoding/],
    ['an upload', asked('multipart/form-data; boundary=a'), 415, /application\/json/],
    ['GET, as urql sends it', {}, 400, /require-preflight: true.*preferGetMethod: false/, GET],
    ['GET without a query', { headers: JSON_TYPE }, 400, /query/],
    ['PUT', { ...post('{}'), method: 'PUT' }, 405, /POST/],
    ['DELETE', { method: 'DELETE', headers: JSON_TYPE }, 405, /POST/],
    ['another path', about({ query: QUERY }), 404, /\/graphql/, '/graphq'],
    ['the root', {}, 404, /\/graphql/, '/'],
    // It is refused before it is read, and its sender can read why.
    ['a byte too long', post(' '.repeat(MAX_BODY_BYTES + 1)), 413, TOO_LONG],
    ['20 MiB', post(' '.repeat(20 * MEBIBYTE)), 413, TOO_LONG],
    ['a value too many', withValues(MAX_VALUES + 1), 413, /^A body may have 3512 values/],
    ['20 MiB of text', post(' '.repeat(20 * MEBIBYTE), { 'content-type': 'text/plain' }), 415, /./],
  ])(
    '%s is refused with what to do, and the next one is answered',
    async (_, request, status, words, path = '/graphql') => {
      const reply = await service.send(path, request);
      expect(reply.status).toBe(status);
      expect(reply.errors).toHaveLength(1);
      expect(reply.errors[0]?.message).toMatch(words);
      expect(costs(service)).toEqual({ tokens: 0, lookups: 0 });
      await expectService();
    },
  );

  it('of 8 MiB is refused so that each of many senders can read why', async () => {
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => service.send('/graphql', post(' '.repeat(8 * MEBIBYTE)))),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 413));
    await expectService();
  });
});

describe('a valid request', () => {
  const BODY = JSON.stringify({ query: QUERY });
  const typed = (type: string) => post(BODY, { 'content-type': type });
  it.each<[string, string, RequestInit]>([
    ['POST', '/graphql', post(BODY)],
    ['POST with a charset', '/graphql', typed('application/json; charset=utf-8')],
    ['POST with a quoted charset', '/graphql', typed('application/json;a=b;CHARSET="UTF-8";c=d')],
    ['POST in capitals', '/graphql', typed('Application/JSON')],
    ['POST without an encoding', '/graphql', encoded('Identity', BODY)],
    [
      'GET with a header that a page elsewhere cannot send',
      GET,
      { headers: { 'apollo-require-preflight': 'true' } },
    ],
    ['null for variables', '/graphql', about({ query: QUERY, variables: null })],
    ['the longest body', '/graphql', post(BODY.padEnd(MAX_BODY_BYTES))],
    ['the most values', '/graphql', withValues(MAX_VALUES)],
  ])('%s is answered', async (_, path, request) => {
    const reply = await service.send(path, request);
    expect(reply.status).toBe(200);
    expect(reply.data).toEqual({ phoneNumber: { simSwappedWithin: true } });
    expect(costs(service)).toEqual({ tokens: 1, lookups: 1 });
  });

  it.each(['/livez', '/readyz'])('GET %s succeeds', async (path) => {
    const reply = await service.send(path);
    expect(reply.status).toBe(200);
  });
});

/** An ordinary request is still answered. */
async function expectService(): Promise<void> {
  const reply = await service.ask('{ __typename }');
  expect(reply.data).toEqual({ __typename: 'Query' });
}
