import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { costs, startSimulated, type SimulatedService } from '../service.ts';

let service: SimulatedService;

beforeAll(async () => {
  service = await startSimulated({ ROLE: 'bff' });
});
beforeEach(() => {
  service.simulator.resetStats();
});
afterAll(() => service.stop());

const JSON_TYPE = { 'content-type': 'application/json' };
const QUERY = '{ phoneNumber(e164: "+447700900001") { simSwappedWithin } }';
const GET = `/graphql?query=${encodeURIComponent(QUERY)}`;
const MEBIBYTE = 1024 * 1024;

const post = (body: string, headers: Record<string, string> = JSON_TYPE): RequestInit => ({
  method: 'POST',
  headers,
  body,
});

describe('a request that is not one', () => {
  it.each<[string, string, RequestInit, number, RegExp]>([
    ['no JSON', '/graphql', post('query=1'), 400, /Send \{"query": "…"\}/],
    ['half of JSON', '/graphql', post('{"query":"{ __typename'), 400, /Send \{"query": "…"\}/],
    ['an empty body', '/graphql', post(''), 400, /Send \{"query": "…"\}/],
    [
      'an array',
      '/graphql',
      post(`[${JSON.stringify({ query: QUERY })}]`),
      400,
      /one operation a request/,
    ],
    ['an empty array', '/graphql', post('[]'), 400, /one operation a request/],
    ['null', '/graphql', post('null'), 400, /not a JSON object/],
    ['a string', '/graphql', post('"{ __typename }"'), 400, /not a JSON object/],
    ['an empty object', '/graphql', post('{}'), 400, /JSON object has no keys/],
    ['an object without a query', '/graphql', post('{"variables":{}}'), 400, /query/],
    ['a query that is no string', '/graphql', post('{"query":7}'), 400, /queries must be strings/],
    [
      'variables in a string',
      '/graphql',
      post('{"query":"{ __typename }","variables":"{}"}'),
      400,
      /variables/,
    ],
    [
      'variables in a list',
      '/graphql',
      post('{"query":"{ __typename }","variables":[1]}'),
      400,
      /variables/,
    ],
    ['nothing asked', '/graphql', post('{"query":""}'), 400, /query/],
    [
      'a form',
      '/graphql',
      post('query=1', { 'content-type': 'application/x-www-form-urlencoded' }),
      415,
      /application\/json/,
    ],
    ['text', '/graphql', post('{}', { 'content-type': 'text/plain' }), 415, /application\/json/],
    [
      'GraphQL alone',
      '/graphql',
      post(QUERY, { 'content-type': 'application/graphql' }),
      415,
      /application\/json/,
    ],
    [
      'JSON sequences',
      '/graphql',
      post('{}', { 'content-type': 'application/json-seq' }),
      415,
      /application\/json/,
    ],
    [
      'an upload',
      '/graphql',
      post('{}', { 'content-type': 'multipart/form-data; boundary=a' }),
      415,
      /application\/json/,
    ],
    ['GET from a page elsewhere', GET, {}, 400, /x-apollo-operation-name|apollo-require-preflight/],
    ['GET without a query', '/graphql', { headers: JSON_TYPE }, 400, /query/],
    ['PUT', '/graphql', { ...post('{}'), method: 'PUT' }, 405, /POST/],
    ['DELETE', '/graphql', { method: 'DELETE', headers: JSON_TYPE }, 405, /POST/],
    ['another path', '/graphq', post(JSON.stringify({ query: QUERY })), 404, /\/graphql/],
    ['the root', '/', {}, 404, /\/graphql/],
  ])(
    '%s is refused in words that help, and the next one is answered',
    async (_, path, request, status, words) => {
      const reply = await service.send(path, request);
      expect(reply.status).toBe(status);
      expect(reply.errors).toHaveLength(1);
      expect(reply.errors[0]?.message).toMatch(words);
      expect(costs(service)).toEqual({ tokens: 0, lookups: 0 });
      await expectService();
    },
  );

  it('of over 1 MiB is refused before it is read', async () => {
    const reply = await service.send(
      '/graphql',
      post(JSON.stringify({ query: ' '.repeat(MEBIBYTE) })),
    );
    expect(reply.status).toBe(413);
    expect(reply.errors[0]?.message).toBe('A body may have 1048576 bytes at most.');
    await expectService();
  });

  it('of 20 MiB is refused, and its sender can read why', async () => {
    const reply = await service.send('/graphql', post(' '.repeat(20 * MEBIBYTE)));
    expect(reply.status).toBe(413);
    await expectService();
  });

  it('of 8 MiB is refused so that each of many senders can read why', async () => {
    const replies = await Promise.all(
      Array.from({ length: 40 }, () => service.send('/graphql', post(' '.repeat(8 * MEBIBYTE)))),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 413));
    await expectService();
  });

  it('of 20 MiB and no JSON is refused, and its sender can read why', async () => {
    const reply = await service.send(
      '/graphql',
      post(' '.repeat(20 * MEBIBYTE), { 'content-type': 'text/plain' }),
    );
    expect(reply.status).toBe(415);
    await expectService();
  });
});

describe('a request that is fine', () => {
  it.each<[string, string, RequestInit]>([
    ['POST', '/graphql', post(JSON.stringify({ query: QUERY }))],
    [
      'POST with a charset',
      '/graphql',
      post(JSON.stringify({ query: QUERY }), { 'content-type': 'application/json; charset=utf-8' }),
    ],
    [
      'POST in capitals',
      '/graphql',
      post(JSON.stringify({ query: QUERY }), { 'content-type': 'Application/JSON' }),
    ],
    [
      'GET with a header that a page elsewhere cannot send',
      GET,
      { headers: { 'apollo-require-preflight': 'true' } },
    ],
    ['null for variables', '/graphql', post(JSON.stringify({ query: QUERY, variables: null }))],
    ['a body of 1 MiB', '/graphql', post(padded(JSON.stringify({ query: QUERY }), MEBIBYTE))],
  ])('%s is answered', async (_, path, request) => {
    const reply = await service.send(path, request);
    expect(reply.status).toBe(200);
    expect(reply.data).toEqual({ phoneNumber: { simSwappedWithin: true } });
    expect(costs(service)).toEqual({ tokens: 1, lookups: 1 });
  });

  it.each(['/livez', '/readyz'])('GET %s says that all is well', async (path) => {
    const reply = await service.send(path);
    expect(reply.status).toBe(200);
  });
});

/** The process goes on: an ordinary request is answered. */
async function expectService(): Promise<void> {
  const reply = await service.ask('{ __typename }');
  expect(reply.data).toEqual({ __typename: 'Query' });
}

function padded(json: string, bytes: number): string {
  return json + ' '.repeat(bytes - json.length);
}
