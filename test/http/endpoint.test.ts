import type { Socket } from 'node:net';
import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { answerJson, deadUrl, RecordingServer, type Received } from './recordingServer.ts';
import { DEPARTURE, TestEndpoint } from './testEndpoint.ts';
import { settled } from '../testClock.ts';
import { LightAbortSignal } from '../../src/http/urgency.ts';

const LIMIT_BYTES = 64 * 1024;

function answer(body: unknown, status = 200) {
  return (received: Received, response: ServerResponse): void =>
    answerJson(received, response, body, status);
}

const ok = (rest: string): string => `HTTP/1.1 200 OK\r\n${rest}`;
const CHUNKED = 'transfer-encoding: chunked\r\n\r\n';

describe('an exchange', () => {
  it('sends one POST with its headers, its body and its correlator, and reads the reply', async () => {
    await using server = await RecordingServer.start(answer({ swapped: true }));
    await using client = new TestEndpoint(`${server.url}/sim-swap/v2/check`, {
      headers: { 'x-partner': 'ours' },
    });
    const exchange = await client.post({
      headers: ['authorization', 'Bearer abc'],
      body: '{"maxAge":240}',
      correlator: 'request-1',
    });

    expect(exchange).toEqual({
      kind: 'reply',
      reply: {
        status: 200,
        headers: expect.objectContaining({ 'content-type': 'application/json' }),
        body: '{"swapped":true}',
      },
      ...DEPARTURE,
    });
    expect(server.received).toHaveLength(1);
    expect(server.received[0]).toMatchObject({
      method: 'POST',
      path: '/sim-swap/v2/check',
      body: '{"maxAge":240}',
      headers: {
        'content-type': 'application/json',
        'content-length': '14',
        accept: 'application/json',
        authorization: 'Bearer abc',
        'x-correlator': 'request-1',
        'x-partner': 'ours',
      },
    });
  });

  it('sends a GET without a body, at a path of its own', async () => {
    await using server = await RecordingServer.start(answer({ swapped: true }));
    await using client = new TestEndpoint(`${server.url}/v1/{digits}/date`);
    const path = '/v1/447700900001/date';
    const without = { contentType: undefined, body: undefined };
    await client.post({ method: 'GET', path, query: 'fields=swap', ...without });

    expect(client.endpoint.address).toBe(`${server.url}/v1/{digits}/date`);
    const received = { method: 'GET', path: `${path}?fields=swap`, body: '' };
    expect(server.received[0]).toMatchObject(received);
    expect(server.received[0]?.headers).not.toHaveProperty('content-type');
    expect(server.received[0]?.headers).not.toHaveProperty('content-length');
  });

  it('keeps characters whole that arrive in pieces', async () => {
    await using server = await RecordingServer.start((_, response) => {
      const body = Buffer.from('{"name":"é"}');
      response.write(body.subarray(0, 10), () => response.end(body.subarray(10)));
    });
    await using client = new TestEndpoint(server.url);
    expect(await client.post()).toMatchObject({ reply: { body: '{"name":"é"}' } });
  });

  it.each([204, 301, 302, 307, 308, 400, 401, 404, 429, 500, 503])(
    'hands a reply of status %d on as it is, and goes nowhere else',
    async (status) => {
      await using server = await RecordingServer.start(({ correlator }, response) => {
        response.writeHead(status, { location: '/elsewhere', 'x-correlator': correlator });
        response.end();
      });
      await using client = new TestEndpoint(server.url);
      expect(await client.post()).toMatchObject({ reply: { status } });
      expect(server.received).toHaveLength(1);
    },
  );

  it('passes over interim replies', async () => {
    await using server = await RecordingServer.start((received, response) => {
      response.writeProcessing();
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      answerJson(received, response, { swapped: true });
    });
    await using client = new TestEndpoint(server.url);
    expect(await client.post()).toMatchObject({ reply: { status: 200, body: '{"swapped":true}' } });
  });
});

describe('the size limit', () => {
  it('takes a body of 64 KB; a byte more is refused, and its connection dropped without reading on', async () => {
    const body = 'x'.repeat(LIMIT_BYTES);
    await using server = await RecordingServer.start(({ correlator }, response) => {
      if (correlator === 'exchange-1') response.end(body);
      else response.write(`${body}x`);
    });
    await using client = new TestEndpoint(server.url);
    expect(await client.post()).toMatchObject({ reply: { body } });
    const detail = 'the reply is over 65536 bytes';
    expect(await client.post()).toEqual({
      kind: 'fault',
      fault: { cause: 'invalid-reply', sent: true, detail, flaw: 'too large' },
    });
    await server.connections.at(-1)?.closed;
  });
});

describe('the time limit', () => {
  it.concurrent.each([
    ['of an exchange', 500, undefined],
    ['that is left to the request, when that is less,', undefined, 500],
  ])('%s covers a body that drips', async (_, timeoutMs, timeLeftMs) => {
    await using server = await RecordingServer.start((_received, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 5);
      response.on('close', () => clearInterval(drip));
    });
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    await using client = new TestEndpoint(server.url, limit);
    expect(await client.post({}, timeLeftMs)).toEqual({
      kind: 'fault',
      fault: { cause: 'timeout', sent: true, detail: 'no reply inside the time limit' },
    });
    await server.connections[0]?.closed;
  });

  it.each([0, -1])('sends nothing with %d ms left', async (timeLeftMs) => {
    await using server = await RecordingServer.start(answer({}));
    await using client = new TestEndpoint(server.url);
    expect(await client.post({}, timeLeftMs)).toEqual({
      kind: 'fault',
      fault: { cause: 'timeout', sent: false, detail: 'no time left to start' },
    });
    expect(server.connections).toHaveLength(0);
  });
});

describe('a connection that cannot be made or breaks', () => {
  it('refused: nothing was sent', async () => {
    await using client = new TestEndpoint(await deadUrl());
    expect(await client.post()).toEqual({
      kind: 'fault',
      fault: { cause: 'connection', sent: false, detail: 'ECONNREFUSED' },
    });
  });

  it('a name that does not resolve: nothing was sent', async () => {
    await using client = new TestEndpoint('http://operator.invalid');
    expect(await client.post()).toMatchObject({ fault: { cause: 'connection', sent: false } });
  });

  const short = ok('content-length: 20\r\n\r\n{"swapped":false}');
  const half = ok(`${CHUNKED}11\r\n{"swapped":false}\r\n`);

  it.each<[string, (socket: Socket | null) => void]>([
    ['reset before any byte of the reply', (socket) => socket?.resetAndDestroy()],
    ['closed before any byte of the reply', (socket) => socket?.destroy()],
    ['closed amid the head', (socket) => socket?.end(ok('content-length: 2\r\n'))],
    ['closed before the length that was announced', (socket) => socket?.end(short)],
    ['closed amid the chunks', (socket) => socket?.end(half)],
  ])('%s: the request may have been acted on', async (_, breakOff) => {
    await using server = await RecordingServer.start((_received, { socket }) => breakOff(socket));
    await using client = new TestEndpoint(server.url);
    expect(await client.post()).toMatchObject({ fault: { cause: 'connection', sent: true } });
    expect(server.received).toHaveLength(1);
  });

  it('an idle connection that was reset is not used again', async () => {
    await using server = await RecordingServer.start(answer({}));
    await using client = new TestEndpoint(server.url, { echo: 'always' });
    await client.post();
    server.connections[0]?.socket.resetAndDestroy();
    await server.connections[0]?.closed;
    // The reset is here; the client reads it in its next turn.
    await settled();
    await settled();
    expect(await client.post()).toMatchObject({ reply: { status: 200 } });
    expect(server.connections).toHaveLength(2);
  });

  it('an idle connection that is reset as the next exchange starts: it is known what was sent', async () => {
    await using server = await RecordingServer.start(answer({}));
    await using client = new TestEndpoint(server.url, { echo: 'always' });
    await client.post();
    await settled();
    server.connections[0]?.socket.resetAndDestroy();
    const exchange = await client.post();
    const sent = exchange.kind === 'reply' || exchange.fault.sent;
    expect(server.received).toHaveLength(sent ? 2 : 1);
  });
});

describe('a reply that is none', () => {
  it.each([
    ['a greeting of another protocol', '220 mail.example.com ESMTP\r\n'],
    ['a status that is no number', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['a length that is no number', ok('content-length: two\r\n\r\n{}')],
    ['two lengths', ok('content-length: 2\r\ncontent-length: 3\r\n\r\n{}')],
    ['a length beside chunks', ok(`content-length: 2\r\n${CHUNKED}2\r\n{}\r\n0\r\n\r\n`)],
    ['a chunk without a length', ok(`${CHUNKED}zz\r\n`)],
    ['a head without an end', ok(`x-long: ${'x'.repeat(100_000)}`)],
  ])('is refused: %s', async (_, raw) => {
    // Past node's own HTTP, which would not let anything wrong through.
    await using server = await RecordingServer.start((_received, { socket }) => socket?.end(raw));
    await using client = new TestEndpoint(server.url);
    expect(await client.post()).toMatchObject({ fault: { cause: 'invalid-reply', sent: true } });
    expect(server.received).toHaveLength(1);
  });
});

it('many exchanges at a time get each its own reply', async () => {
  await using server = await RecordingServer.start((received, response) =>
    answerJson(received, response, { for: received.correlator }),
  );
  await using client = new TestEndpoint(server.url);
  expect(await client.burst(50)).toMatchObject(
    Array.from({ length: 50 }, (_, index) => ({
      reply: { body: `{"for":"exchange-${index + 1}"}` },
    })),
  );
});

it('an endpoint that is closed breaks off what is under way', async () => {
  await using server = await RecordingServer.start(() => void client.endpoint.close());
  await using client = new TestEndpoint(server.url);
  expect(await client.post()).toMatchObject({ fault: { cause: 'connection', sent: true } });
  await server.connections[0]?.closed;
});

const CANCELLED = { cause: 'cancelled', detail: 'the request ended' };

describe('a signal that is aborted', () => {
  let signal: LightAbortSignal;
  beforeEach(() => {
    signal = new LightAbortSignal();
  });

  it.each([
    ['before the exchange', 1],
    ['while connecting', 2],
  ])('%s: nothing is sent, and the next exchange is none the worse', async (_, connections) => {
    await using server = await RecordingServer.start(answer({}));
    await using client = new TestEndpoint(server.url);
    if (connections === 1) signal.abort();
    const exchange = client.post({ signal });
    signal.abort();
    expect(await exchange).toEqual({ kind: 'fault', fault: { ...CANCELLED, sent: false } });
    expect(await client.post()).toMatchObject({ reply: { status: 200 } });
    expect(server.received.map(({ correlator }) => correlator)).toEqual(['exchange-2']);
    expect(server.connections.length).toBeLessThanOrEqual(connections);
  });

  it.each([
    ['while it waits for the reply', () => signal.abort()],
    [
      'amid the body',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"swapped":', () => signal.abort());
      },
    ],
  ])('%s: the server sees the connection closed', async (_, answerHalf) => {
    await using server = await RecordingServer.start((_received, response) => answerHalf(response));
    await using client = new TestEndpoint(server.url);
    const exchange = await client.post({ signal });
    expect(exchange).toEqual({ kind: 'fault', fault: { ...CANCELLED, sent: true } });
    await server.connections[0]?.closed;
    expect(server.received).toHaveLength(1);
  });

  it('after the exchange: the reply is valid and the connection is kept', async () => {
    await using server = await RecordingServer.start(answer({}));
    await using client = new TestEndpoint(server.url, { echo: 'always' });
    const exchange = await client.post({ signal });
    signal.abort();
    expect(exchange).toMatchObject({ reply: { status: 200 } });
    await settled();
    await client.post();
    expect(server.connections).toHaveLength(1);
  });

  it('of one exchange does not touch the others', async () => {
    await using server = await RecordingServer.start((received, response) => {
      if (received.correlator === 'exchange-1') signal.abort();
      else answerJson(received, response, {});
    });
    await using client = new TestEndpoint(server.url);
    const exchanges = await Promise.all([client.post({ signal }), client.post()]);
    expect(exchanges).toMatchObject([{ fault: CANCELLED }, { reply: { status: 200 } }]);
  });
});
