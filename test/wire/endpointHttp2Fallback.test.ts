import type { TLSSocket } from 'node:tls';
import { constants } from 'node:http2';
import { describe, expect, it } from 'vitest';
import { HTTP1_FOR_MS } from '../../src/wire/endpoint.ts';
import { RecordedLog } from '../support/recordedLog.ts';
import { TestClock } from '../support/testClock.ts';
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
  ])('%s: HTTP/1.1 is used after two connections, and the log says so', async (_, misbehave) => {
    await using server = await RawHttp2Server.start(CERTIFICATE, misbehave);
    const log = new RecordedLog();
    await using client = new TestEndpoint(server.url, { log });
    expect(isReply(await client.post())).toBe(false);
    await client.post();
    expect(isReply(await client.post())).toBe(true);
    expect(isReply(await client.post())).toBe(true);
    expect(server.protocols.slice(0, 4)).toEqual(['h2', 'h2', 'http/1.1', 'http/1.1']);
    expect(log.troubles.map(({ message }) => message)).toEqual([
      'The operator offers HTTP/2, which does not work: HTTP/1.1 is used instead.',
    ]);
  });

  it.each<[string, (socket: TLSSocket) => void, number]>([
    ['stays silent: HTTP/1.1 is used after two connections', () => undefined, 2],
    [
      'requires HTTP/1.1: it is used at once',
      writing(SETTINGS, goAway(constants.NGHTTP2_HTTP_1_1_REQUIRED)),
      1,
    ],
  ])('%s', async (_, misbehave, failing) => {
    await using server = await RawHttp2Server.start(CERTIFICATE, misbehave);
    await using client = new TestEndpoint(server.url, { timeoutMs: 500 });
    const exchanges: boolean[] = [];
    while (exchanges.length <= failing) exchanges.push(isReply(await client.post()));
    expect(exchanges).toEqual([...Array<boolean>(failing).fill(false), true]);
    expect(server.protocols).toEqual([...Array<string>(failing).fill('h2'), 'http/1.1']);
  });

  it('is tried over HTTP/2 again after ten minutes', async () => {
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

describe('the version', () => {
  it('is HTTP/1.1 where the server has no other, also for exchanges that waited for its choice', async () => {
    await using server = await RecordingServer.start(answerWithout, CERTIFICATE);
    await using client = new TestEndpoint(server.url);
    expect((await client.burst(10)).every(isReply)).toBe(true);
  });

  it('is HTTP/1.1 with http2: never', async () => {
    await using server = await RawHttp2Server.start(CERTIFICATE, (socket) => socket.end());
    await using client = new TestEndpoint(server.url, { http2: 'never' });
    expect(isReply(await client.post())).toBe(true);
    expect(server.protocols).toEqual(['http/1.1']);
  });

  it('stays HTTP/2 where a server breaks connections after replies over it', async () => {
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
