import type { TLSSocket } from 'node:tls';
import { constants } from 'node:http2';
import { describe, expect, it } from 'vitest';
import { HTTP1_FOR_MS } from '../../src/http/connections/endpoint.ts';
import { RecordedLog } from '../recordedLog.ts';
import { TestClock } from '../testClock.ts';
import { trustedCertificate } from '../tls/trustedCertificate.ts';
import { answerByStream, Http2Server } from './http2Server.ts';
import { answerWithout, RecordingServer } from './recordingServer.ts';
import { goAway, RawHttp2Server, SETTINGS } from './rawHttp2Server.ts';
import { isReply, TestEndpoint } from './testEndpoint.ts';

const CERTIFICATE = trustedCertificate();

const writing =
  (...frames: readonly Buffer[]) =>
  (socket: TLSSocket): void =>
    void socket.write(Buffer.concat(frames));

describe('a server that offers HTTP/2 and breaks it', () => {
  it.each<[string, (socket: TLSSocket) => void]>([
    ['speaks HTTP/1.1', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['resets the connection', (socket) => socket.destroy()],
    ['sends nonsense after its settings', writing(SETTINGS, Buffer.alloc(100, 'nonsense'))],
    ['sends a frame that is too large', writing(Buffer.from('ffffff000000000001', 'hex'))],
    ['sends PROTOCOL_ERROR', writing(SETTINGS, goAway(constants.NGHTTP2_PROTOCOL_ERROR))],
  ])(
    '%s: after two connections it is asked over HTTP/1.1, and the log says so',
    async (_, misbehave) => {
      await using server = await RawHttp2Server.start(CERTIFICATE, misbehave);
      const log = new RecordedLog();
      await using client = new TestEndpoint(server.url, { log });
      expect(isReply(await client.post())).toBe(false);
      await client.post();
      expect(isReply(await client.post())).toBe(true);
      expect(isReply(await client.post())).toBe(true);
      expect(server.protocols.slice(0, 4)).toEqual(['h2', 'h2', 'http/1.1', 'http/1.1']);
      expect(log.troubles.map(({ message }) => message)).toEqual([
        'The operator offers HTTP/2 and breaks it. HTTP/1.1 is used instead.',
      ]);
    },
  );

  it('says nothing: after two connections it is asked over HTTP/1.1', async () => {
    await using server = await RawHttp2Server.start(CERTIFICATE, () => undefined);
    await using client = new TestEndpoint(server.url, { timeoutMs: 500 });
    expect(isReply(await client.post())).toBe(false);
    expect(isReply(await client.post())).toBe(false);
    expect(isReply(await client.post())).toBe(true);
    expect(server.protocols).toEqual(['h2', 'h2', 'http/1.1']);
  });

  it('wants HTTP/1.1: it is asked so at once', async () => {
    const wants = writing(SETTINGS, goAway(constants.NGHTTP2_HTTP_1_1_REQUIRED));
    await using server = await RawHttp2Server.start(CERTIFICATE, wants);
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
    await using server = await RecordingServer.start(answerWithout, CERTIFICATE);
    await using client = new TestEndpoint(server.url);
    expect((await client.burst(10)).every(isReply)).toBe(true);
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
    const log = new RecordedLog();
    await using client = new TestEndpoint(server.url, { log });
    for (let round = 0; round < 4; round += 1) {
      expect(isReply(await client.post())).toBe(true);
      expect(isReply(await client.post())).toBe(false);
    }
    expect(server.sessions).toHaveLength(4);
    expect(log.troubles.map(({ message }) => message)).toEqual([]);
  });
});
