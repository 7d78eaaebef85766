import { connect } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { CompactSign } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSimulated } from '../service.ts';
import { claimsAt, TestIssuer } from './testIssuer.ts';

const ASK = '{ phoneNumber(e164: "+447700900500") { simSwappedWithin } }';

const issuer = await TestIssuer.start();
const service = await startSimulated(issuer.settings);
afterAll(async () => {
  await service.stop();
  await issuer.close();
});

/** Sends a request with these lines of headers as they are; resolves to all of the reply. */
async function send(path: string, ...lines: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const body = JSON.stringify({ query: ASK });
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

/** Written as it is: numbers may be such as no program would write. */
async function statusWith(changes: Readonly<Record<string, string>>): Promise<number> {
  const { privateKey, alg, publicJwk } = issuer.key();
  const claims = Object.entries(claimsAt(Date.now(), { scope: 'sim-swap:read' }))
    .filter(([name]) => !(name in changes))
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  const changed = Object.entries(changes).map(([name, value]) => `"${name}":${value}`);
  const token = await new CompactSign(Buffer.from(`{${[...claims, ...changed].join(',')}}`))
    .setProtectedHeader({ alg, kid: publicJwk.kid ?? '', typ: 'at+jwt' })
    .sign(privateKey);
  return (await service.ask(ASK, {}, { authorization: `Bearer ${token}` })).status;
}

describe('a request of which two readers could read two things', () => {
  let good: string;
  let host: string;
  beforeAll(async () => {
    good = `authorization: Bearer ${await issuer.token({ scope: 'sim-swap:read' })}`;
    host = `host: ${new URL(service.url).host}`;
  });

  it('is answered where it says each thing once', async () => {
    expect(await send('/graphql', host, good)).toContain('"simSwappedWithin":false');
  });

  it.each<[string, () => readonly string[]]>([
    ['two hosts', () => [host, 'host: elsewhere.example', good]],
    ['one host twice', () => [host, 'Host: 127.0.0.1', good]],
    ['two tokens', () => [host, good, 'Authorization: Bearer another']],
    ['one token twice', () => [host, good, good]],
    ['a token and credentials of another kind', () => [host, 'authorization: Basic YTpi', good]],
  ])('is 400 with %s', async (_, lines) => {
    for (const path of ['/graphql', '/readyz']) {
      const reply = await send(path, ...lines());
      expect(reply).toMatch(/^HTTP\/1\.1 400 /);
      expect(reply).not.toContain('simSwappedWithin');
    }
  });
});

describe('an access token of a time that is none', () => {
  it.each<[string, () => Readonly<Record<string, string>>, number]>([
    ['as it is', () => ({}), 200],
    ['without an end', () => ({ exp: '1e999' }), 401],
    ['with an end past any date', () => ({ exp: '1e308' }), 401],
    ['from long ago', () => ({ iat: '0' }), 200],
    ['from the tolerance ahead', () => ({ iat: String(Math.floor(Date.now() / 1000) + 4) }), 200],
    ['from a minute ahead', () => ({ iat: String(Math.floor(Date.now() / 1000) + 60) }), 401],
    ['from never', () => ({ iat: '1e999' }), 401],
  ])('%s', async (_, changes, status) => {
    expect(await statusWith(changes())).toBe(status);
  });
});
