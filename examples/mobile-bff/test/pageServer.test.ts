import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startPage, type PageServer } from '../pageServer.ts';

let server: PageServer;
beforeAll(async () => {
  server = await startPage(0);
});
afterAll(() => server?.[Symbol.asyncDispose]());

async function requested(method: string, path: string, host: string) {
  const sent = request(`${server.url}${path}`, { method, headers: { host } }).end();
  const [reply] = await once(sent, 'response');
  return { status: reply.statusCode, body: await text(reply) };
}

it('under the name of another host gives nothing, neither a token nor the log', async () => {
  const { host, port } = new URL(server.url);
  const token = ['POST', '/access-token?who=alice'] as const;
  for (const other of ['evil.example', `evil.example:${port}`, `localhost:${port}`, '127.0.0.1']) {
    for (const [method, path] of [
      token,
      ['GET', '/log'],
      ['GET', '/'],
      ['POST', '/codes'],
    ] as const) {
      const { status, body } = await requested(method, path, other);
      expect({ status, body }).toEqual({ status: 421, body: expect.stringContaining('host') });
    }
  }
  expect(await requested(...token, host)).toMatchObject({
    status: 200,
    body: expect.stringMatching(/^ey/u),
  });
});
