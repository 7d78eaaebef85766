import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { TestIssuer } from './testIssuer.ts';
import { startSimulated } from '../support/service.ts';

const issuer = await TestIssuer.start();
const service = await startSimulated(issuer.settings);
const authorization = `Bearer ${await issuer.token({ scope: 'sim-swap:read' })}`;
afterAll(async () => {
  await service.stop();
  await issuer.close();
});

describe('every response', () => {
  const JSON_TYPE = { 'content-type': 'application/json' };
  const POST = { method: 'POST', body: '{"query":"{ __typename }"}' };
  const TOKEN = { authorization };
  const BOTH = { ...JSON_TYPE, authorization };
  const PREFLIGHT = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
  it.each<[string, string, RequestInit, number]>([
    ['an answer', '/graphql', { ...POST, headers: BOTH }, 200],
    ['a refusal', '/graphql', { ...POST, headers: JSON_TYPE }, 401],
    ['a bad request', '/graphql', { ...POST, body: '{', headers: BOTH }, 400],
    ['a form', '/graphql', { ...POST, headers: TOKEN }, 415],
    ['a simple GET, as pages send it', '/graphql?query={__typename}', { headers: TOKEN }, 400],
    ['another method', '/graphql', { method: 'DELETE', headers: TOKEN }, 405],
    ['a probe', '/livez', {}, 200],
    ['an unknown path', '/', {}, 404],
    ['a preflight', '/graphql', { method: 'OPTIONS', headers: PREFLIGHT }, 401],
  ])('forbids caches, frames and other origins: %s', async (_what, path, request, status) => {
    const response = await fetch(`${service.url}${path}`, request);
    const { headers } = response;
    expect(response.status).toBe(status);
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    const said = [...headers.keys()].join('\n');
    expect(said).not.toMatch(/cookie|access-control|x-powered-by|^server$/m);
  });
});

describe('a request that two readers could read differently', () => {
  const good = `authorization: ${authorization}`;
  const host = `host: ${new URL(service.url).host}`;

  /** Sends a request with these lines of headers as they are; resolves to all of the reply. */
  async function send(path: string, ...lines: readonly string[]): Promise<string> {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const query = '{ phoneNumber(e164: "+447700900500") { simSwappedWithin } }';
    const body = JSON.stringify({ query });
    const head = [
      `POST ${path} HTTP/1.1`,
      ...lines,
      'connection: close',
      'content-type: application/json',
      `content-length: ${body.length}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
    return text(socket);
  }

  it('is answered where it has each header once', async () => {
    expect(await send('/graphql', host, good)).toContain('"simSwappedWithin":false');
  });

  it.each<[string, readonly string[]]>([
    ['two hosts', [host, 'host: elsewhere.example', good]],
    ['one host twice', [host, 'Host: 127.0.0.1', good]],
    ['two tokens', [host, good, 'Authorization: Bearer another']],
    ['one token twice', [host, good, good]],
    ['a token and credentials of another kind', [host, 'authorization: Basic YTpi', good]],
  ])('is 400 with %s', async (_, lines) => {
    for (const path of ['/graphql', '/readyz']) {
      const reply = await send(path, ...lines);
      expect(reply).toMatch(/^HTTP\/1\.1 400 /);
      expect(reply).not.toContain('simSwappedWithin');
    }
  });
});
