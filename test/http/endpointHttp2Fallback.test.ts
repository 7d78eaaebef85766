import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { constants } from 'node:http2';
import { describe, expect, it } from 'vitest';
import { HTTP1_FOR_MS } from '../../src/http/connections/httpVersion.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import type { Log } from '../../src/log/log.ts';
import { TestClock } from '../testClock.ts';
import { trustedCertificate } from '../tls/trustedCertificate.ts';
import { answerByStream, Http2Server } from './http2Server.ts';
import { goAway, RawHttp2Server, SETTINGS } from './rawHttp2Server.ts';
import { TestEndpoint } from './testEndpoint.ts';

const CERTIFICATE = trustedCertificate();

/** What the log was told at warn and above. */
class Warnings implements Log {
  readonly messages: string[] = [];

  info(): void {
    // Not looked at.
  }

  warn(message: string): void {
    this.messages.push(message);
  }

  error(message: string): void {
    this.messages.push(message);
  }
}

function isReply(exchange: Exchange): boolean {
  return exchange.kind === 'reply';
}

describe('a server that offers HTTP/2 and breaks it', () => {
  it.each<[string, (socket: TLSSocket) => void]>([
    ['speaks HTTP/1.1', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['closes the connection', (socket) => socket.end()],
    ['resets the connection', (socket) => socket.destroy()],
    [
      'sends settings and then nonsense',
      (socket) => socket.write(Buffer.concat([SETTINGS, Buffer.alloc(100, 'nonsense')])),
    ],
    [
      'sends a frame that is too large',
      (socket) => socket.write(Buffer.from('ffffff000000000001', 'hex')),
    ],
    [
      'ends each connection with PROTOCOL_ERROR',
      (socket) => socket.end(Buffer.concat([SETTINGS, goAway(constants.NGHTTP2_PROTOCOL_ERROR)])),
    ],
  ])(
    '%s: after two connections it is asked over HTTP/1.1, and the log says so',
    async (_, misbehave) => {
      await using server = await RawHttp2Server.start(CERTIFICATE, misbehave);
      const log = new Warnings();
      await using client = new TestEndpoint(server.url, { log });
      expect(isReply(await client.post())).toBe(false);
      await client.post();
      expect(isReply(await client.post())).toBe(true);
      expect(isReply(await client.post())).toBe(true);
      expect(server.protocols.slice(0, 4)).toEqual(['h2', 'h2', 'http/1.1', 'http/1.1']);
      expect(log.messages).toEqual([
        'The operator offers HTTP/2 and breaks it. HTTP/1.1 is used instead.',
      ]);
    },
  );

  it('says nothing: after two connections it is asked over HTTP/1.1', async () => {
    await using server = await RawHttp2Server.start(CERTIFICATE, () => undefined);
    await using client = new TestEndpoint(server.url, { timeoutMs: 800 });
    expect(isReply(await client.post())).toBe(false);
    expect(isReply(await client.post())).toBe(false);
    expect(isReply(await client.post())).toBe(true);
    expect(server.protocols).toEqual(['h2', 'h2', 'http/1.1']);
  });

  it('wants HTTP/1.1: it is asked so at once', async () => {
    await using server = await RawHttp2Server.start(CERTIFICATE, (socket) => {
      socket.write(Buffer.concat([SETTINGS, goAway(constants.NGHTTP2_HTTP_1_1_REQUIRED)]));
    });
    await using client = new TestEndpoint(server.url);
    expect(isReply(await client.post())).toBe(false);
    expect(isReply(await client.post())).toBe(true);
    expect(server.protocols).toEqual(['h2', 'http/1.1']);
  });

  it('is tried again after a while', async () => {
    await using server = await RawHttp2Server.start(CERTIFICATE, (socket) => socket.end());
    const clock = new TestClock();
    await using client = new TestEndpoint(server.url, { clock });
    await client.post();
    await client.post();
    expect(isReply(await client.post())).toBe(true);
    await clock.advance(HTTP1_FOR_MS);
    await client.post();
    expect(server.protocols).toEqual(['h2', 'h2', 'http/1.1', 'h2']);
  });
});

describe('which version', () => {
  it('HTTP/1.1 where the server takes no other; those that waited for its choice are carried', async () => {
    await using server = await startHttps();
    await using client = new TestEndpoint(server.url);
    const exchanges = await Promise.all(Array.from({ length: 10 }, () => client.post()));
    expect(exchanges.every(isReply)).toBe(true);
  });

  it('HTTP/1.1 with OPERATOR_HTTP2=never', async () => {
    await using server = await RawHttp2Server.start(CERTIFICATE, (socket) => socket.end());
    await using client = new TestEndpoint(server.url, { http2: 'never' });
    expect(isReply(await client.post())).toBe(true);
    expect(server.protocols).toEqual(['http/1.1']);
  });

  it('a server that has replied over HTTP/2 and then breaks connections is a failing server', async () => {
    let count = 0;
    await using server = await Http2Server.start(CERTIFICATE, (received) => {
      count += 1;
      if (count % 2 === 1) answerByStream(received, {});
      else received.session.destroy();
    });
    const log = new Warnings();
    await using client = new TestEndpoint(server.url, { log });
    for (let round = 0; round < 4; round += 1) {
      expect(isReply(await client.post())).toBe(true);
      expect(isReply(await client.post())).toBe(false);
    }
    expect(server.sessions).toHaveLength(4);
    expect(log.messages).toEqual([]);
  });
});

async function startHttps(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createHttpsServer(CERTIFICATE, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}/check`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
