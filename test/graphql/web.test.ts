import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { replyMediaType } from '../../src/graphql/reply.ts';
import {
  costs,
  startSimulated,
  withoutCorrelators,
  type SimulatedService,
} from '../support/service.ts';

const APP = 'https://app.example';
const GRAPHQL_RESPONSE = 'application/graphql-response+json';
const QUERY = JSON.stringify({ query: '{ __typename }' });

const open = await startSimulated({ ROLE: 'bff' });
const listed = await startSimulated({ ALLOWED_ORIGINS: `${APP}, http://localhost:3000` });
afterAll(() => Promise.all([open.stop(), listed.stop()]));

interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends what fetch would not: a `host` of its own, a preflight. */
async function send(
  { url }: SimulatedService,
  {
    method = 'POST',
    path = '/graphql',
    headers = {},
    body = QUERY,
  }: {
    method?: string;
    path?: string;
    headers?: Readonly<Record<string, string>>;
    body?: string;
  },
): Promise<Received> {
  const sent = httpRequest(url, {
    method,
    path,
    headers: { 'content-type': 'application/json', ...headers },
  });
  sent.end(method === 'POST' ? body : undefined);
  const [response] = await once(sent, 'response');
  return {
    status: response.statusCode,
    headers: response.headers,
    body: await text(response),
  };
}

function codeIn({ body }: Received): string | undefined {
  const { errors } = JSON.parse(body) as { errors?: { extensions: { code: string } }[] };
  return errors?.[0]?.extensions.code;
}

function preflight(origin: string) {
  return {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  };
}

describe('where no token is needed, a request', () => {
  it.each([
    ['localhost', 200],
    ['LOCALHOST:4000', 200],
    ['127.0.0.1', 200],
    ['127.1.2.3:4000', 200],
    ['[::1]:4000', 200],
    ['rebound.example', 421],
    ['rebound.example:4000', 421],
    ['localhost.rebound.example', 421],
    ['127.0.0.1.rebound.example', 421],
    ['localhost@rebound.example', 421],
    ['rebound.example@localhost', 421],
    ['localhost:4000:rebound', 421],
    ['[::1]rebound.example', 421],
    ['sim-swap.internal', 421],
    ['192.168.0.7', 421],
    ['a b', 421],
  ])('under the host %j: %i', async (host, status) => {
    const reply = await send(open, { headers: { host } });
    expect(reply.status).toBe(status);
    const code = status === 200 ? undefined : 'BAD_REQUEST';
    expect(codeIn(reply)).toBe(code);
  });

  it.each([
    ['http://localhost/graphql', 'localhost', 200],
    ['HTTP://127.0.0.1:4000/graphql?a', 'rebound.example', 200],
    ['https://localhost/graphql', 'localhost', 200],
    ['http://rebound.example/graphql', 'localhost', 421],
    ['http://localhost@rebound.example/graphql', 'localhost', 404],
    ['http://localhost/livez', 'localhost', 200],
    ['http://localhost', 'localhost', 404],
    ['http:///graphql', 'localhost', 404],
    ['http://localhost/x/graphql', 'localhost', 404],
  ])('for %s under the host %s: %i', async (path, host, status) => {
    expect((await send(open, { path, headers: { host } })).status).toBe(status);
  });

  it('the explorer is not served under another host either', async () => {
    const headers = { host: 'rebound.example', accept: 'text/html' };
    expect((await send(open, { method: 'GET', headers })).status).toBe(421);
  });

  it('probes are answered under any host', async () => {
    const reply = await fetch(`${open.url}/livez`, { headers: { host: 'pod.example' } });
    expect(reply.status).toBe(200);
  });
});

describe('a page of another origin', () => {
  it.each([APP, 'http://localhost:3000'])(
    'that is listed may send requests: %s',
    async (origin) => {
      const asked = await send(listed, preflight(origin));
      expect(asked.status).toBe(204);
      expect(asked.headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, POST',
        vary: 'origin',
      });
      expect(asked.headers['access-control-allow-headers']).toMatch(/authorization.*content-type/);
      expect(asked.headers).not.toHaveProperty('access-control-allow-credentials');

      const answered = await send(listed, { headers: { origin } });
      expect(answered.status).toBe(200);
      expect(answered.headers['access-control-allow-origin']).toBe(origin);
      expect(answered.headers['access-control-expose-headers']).toContain('retry-after');
    },
  );

  it('that is listed can read a refusal', async () => {
    const refused = await send(listed, { headers: { origin: APP }, body: '[' });
    expect(refused.status).toBe(400);
    expect(refused.headers['access-control-allow-origin']).toBe(APP);
  });

  it.each([
    ['another', 'https://evil.example'],
    ['one below', 'https://sub.app.example'],
    ['one with a port', `${APP}:444`],
    ['an opaque one', 'null'],
  ])('that is not listed may not: %s', async (_, origin) => {
    const asked = await send(listed, preflight(origin));
    expect(asked.status).toBe(405);
    expect(asked.headers).not.toHaveProperty('access-control-allow-origin');
    const answered = await send(listed, { headers: { origin } });
    expect(answered.headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('may not send requests where none is listed', async () => {
    const asked = await send(open, preflight(APP));
    expect(asked.status).toBe(405);
    expect(asked.headers).not.toHaveProperty('access-control-allow-origin');
    expect(asked.headers).not.toHaveProperty('vary');
  });
});

describe('the media type of a reply', () => {
  it.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['text/html', undefined],
    ['text/html, */*;q=0.8', 'application/json'],
    ['application/json', 'application/json'],
    [GRAPHQL_RESPONSE, GRAPHQL_RESPONSE],
    ['Application/GraphQL-Response+JSON; charset=utf-8', GRAPHQL_RESPONSE],
    [`${GRAPHQL_RESPONSE},application/json;q=0.9`, GRAPHQL_RESPONSE],
    [`application/json;q=0.9, ${GRAPHQL_RESPONSE}`, GRAPHQL_RESPONSE],
    [`${GRAPHQL_RESPONSE}, application/json, text/event-stream, multipart/mixed`, GRAPHQL_RESPONSE],
    [`application/json, ${GRAPHQL_RESPONSE}`, 'application/json'],
    [`${GRAPHQL_RESPONSE};q=0.1, application/json`, 'application/json'],
    [`${GRAPHQL_RESPONSE};q=0, */*;q=0.1`, 'application/json'],
    ['application/*', 'application/json'],
    [`application/json;q=0, application/*`, GRAPHQL_RESPONSE],
    [`${GRAPHQL_RESPONSE};q=x`, undefined],
    [`${GRAPHQL_RESPONSE};q=0`, undefined],
    [`${GRAPHQL_RESPONSE}; Q=0.000`, undefined],
  ])('for accept: %s is %s', (accept, type) => {
    expect(replyMediaType(accept)).toBe(type);
  });

  it.each([
    [undefined, 'application/json'],
    [`${GRAPHQL_RESPONSE},application/json;q=0.9`, GRAPHQL_RESPONSE],
    [`application/json, ${GRAPHQL_RESPONSE}`, 'application/json'],
  ])('is the same for an answer and for each refusal: %s', async (accept, type) => {
    const headers = accept === undefined ? {} : { accept };
    const replies = await Promise.all([
      send(open, { headers }),
      send(open, { headers, body: '{ "query": "{" }' }),
      send(open, { headers, body: '{' }),
      send(open, { headers, method: 'PUT' }),
      send(open, { headers: { ...headers, 'content-type': 'text/plain' } }),
      send(open, { headers: { ...headers, host: 'rebound.example' } }),
    ]);
    for (const reply of replies) {
      expect(reply.headers['content-type']).toBe(`${type}; charset=utf-8`);
    }
    for (const refused of replies.slice(1)) {
      const { errors } = JSON.parse(refused.body) as { errors: { extensions: { code: string } }[] };
      expect(errors.map(({ extensions }) => extensions.code)).toEqual([
        expect.stringMatching(/^(?:BAD_REQUEST|GRAPHQL_PARSE_FAILED)$/),
      ]);
    }
  });

  it.each(['text/html', `${GRAPHQL_RESPONSE};q=0`])(
    'is refused before a lookup where the client accepts neither: %s',
    async (accept) => {
      open.simulator.resetStats();
      const query = '{ phoneNumber(e164: "+447700900001") { simSwappedWithin } }';
      for (const asked of [
        send(open, { headers: { accept }, body: JSON.stringify({ query }) }),
        send(open, {
          method: 'GET',
          path: `/graphql?query=${encodeURIComponent(query)}`,
          headers: { accept, 'apollo-require-preflight': 'true' },
        }),
      ]) {
        const reply = await asked;
        expect([reply.status, codeIn(reply)]).toEqual([406, 'BAD_REQUEST']);
        expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
      }
      expect(costs(open)).toEqual({ tokens: 0, lookups: 0 });
    },
  );

  it.each([
    [undefined, 200],
    ['application/json', 200],
    [`${GRAPHQL_RESPONSE}, application/json;q=0.9`, 400],
  ])('decides the status of an operation beyond a limit: %s, %i', async (accept, status) => {
    const e164s = Array.from({ length: 101 }, (_, index) => `+447700900${500 + index}`);
    const query = `{ phoneNumbers(e164s: ${JSON.stringify(e164s)}) { simSwappedWithin } }`;
    const reply = await send(open, {
      headers: accept === undefined ? {} : { accept },
      body: JSON.stringify({ query }),
    });
    expect(reply.status).toBe(status);
    expect(JSON.parse(reply.body, withoutCorrelators)).toEqual({
      errors: [
        {
          message:
            'One operation may have 100 numbers; this one has 101. Split it into several operations.',
          extensions: {
            code: 'LOOKUP_LIMIT_EXCEEDED',
            limited: 'numbers',
            limit: 100,
            asked: 101,
          },
        },
      ],
    });
  });
});
