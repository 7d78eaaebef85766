import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { RecordingServer } from '../http/recordingServer.ts';
import { ServerProcess } from './serverProcess.ts';

const TIMEOUT_MS = 400;
/** What a loaded machine may add. */
const SLACK_MS = 3000;
const QUERY = '{ phoneNumber(e164: "+447700900500") { simSwappedWithin } }';

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

describe('a request ends in its time', () => {
  test('when its caller cannot be identified: the issuer never answers', async () => {
    await using issuer = await RecordingServer.start(() => undefined);
    await using server = await ServerProcess.start(issuer.url, {
      AUDIT_KEY: 'a key of thirty-two characters or more',
      JWT_JWKS_URL: `${issuer.url}/jwks`,
      JWT_ISSUER: issuer.url,
      JWT_AUDIENCE: 'sim-swap',
      REQUEST_TIMEOUT_MS: String(TIMEOUT_MS),
    });
    // Well formed, so that the keys are asked for.
    const token = `${part({ alg: 'ES256', typ: 'at+jwt', kid: 'k' })}.${part({ sub: 's' })}.AAAA`;

    const askedAtMs = performance.now();
    const reply = await server.ask(QUERY, {}, { authorization: `Bearer ${token}` });
    expect(reply).toMatchObject({ status: 503, codes: ['UNAVAILABLE'] });
    expect(performance.now() - askedAtMs).toBeLessThan(TIMEOUT_MS + SLACK_MS);
  });

  test('when its body does not arrive', async () => {
    await using server = await ServerProcess.start('http://127.0.0.1:1', {
      REQUEST_TIMEOUT_MS: String(TIMEOUT_MS),
    });
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(
      'POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"query":',
    );
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
    await once(socket, 'close');
    expect(received).toMatch(/^HTTP\/1\.1 408 /);
    expect(received).toContain('"code":"BAD_REQUEST"');
  });
});
