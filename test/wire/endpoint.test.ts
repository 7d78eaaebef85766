import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { LightAbortSignal } from '../../src/system/urgency.ts';
import { settled } from '../support/testClock.ts';
import { replying } from '../support/wiredOperator.ts';
import { answerJson, deadUrl, RecordingServer, type Received } from './recordingServer.ts';
import { A_DEPARTURE, TestEndpoint } from './testEndpoint.ts';

const LIMIT_BYTES = 64 * 1024;
const SENDS_HEADERS = 'undici:client:sendHeaders';

const ok = (rest: string): string => `HTTP/1.1 200 OK\r\n${rest}`;
const CHUNKED = 'transfer-encoding: chunked\r\n\r\n';

describe('an exchange', () => {
  it('sends one POST with its headers, its body and its correlator, and reads the reply', async () => {
    await using server = await RecordingServer.start(replying({ swapped: true }));
    await using client = new TestEndpoint(`${server.url}/sim-swap/v2/check`, {
      headers: { 'x-partner': 'ours' },
    });
    const authorization = 'Bearer abc';
    const exchange = await client.post({
      headers: ['authorization', authorization],
      body: '{"maxAge":240}',
      correlator: 'request-1',
    });

    const headers = expect.objectContaining({ 'content-type': 'application/json' }) as object;
    const reply = { status: 200, headers, body: '{"swapped":true}' };
    expect(exchange).toEqual({ kind: 'reply', reply, ...A_DEPARTURE });
    expect(server.received).toMatchObject([
      {
        method: 'POST',
        path: '/sim-swap/v2/check',
        body: '{"maxAge":240}',
        headers: {
          'content-type': 'application/json',
          'content-length': '14',
          accept: 'application/json',
          authorization,
          'x-correlator': 'request-1',
          'x-partner': 'ours',
        },
      },
    ]);
  });

  it('sends a GET without a body, at a path of its own', async () => {
    await using server = await RecordingServer.start(replying({ swapped: true }));
    await using client = new TestEndpoint(`${server.url}/v1/{digits}/date`);
    const path = '/v1/447700900001/date';
    const without = { contentType: undefined, body: undefined };
    await client.post({ method: 'GET', path, query: 'fields=swap', ...without });

    expect(client.endpoint.address).toBe(`${server.url}/v1/{digits}/date`);
    const received = { method: 'GET', path: `${path}?fields=swap`, body: '' };
    expect(server.received).toMatchObject([received]);
    expect(Object.keys(server.received[0]?.headers ?? {}).join()).not.toContain('content-');
  });

  it('skips 100 Continue, in pieces and several times, before each reply on a kept connection', async () => {
    await using server = await RecordingServer.start(
      (...request) => void continueAndReply(...request),
    );
    await using client = new TestEndpoint(server.url);
    for (const correlator of ['one', 'two', 'three', 'four']) {
      expect(await client.post({ correlator })).toMatchObject({
        reply: { status: 200, body: '{}' },
      });
    }
    expect(server.connections.length).toBeLessThan(4);
  });

  it('joins characters that arrive in pieces', async () => {
    await using server = await RecordingServer.start((_, response) => {
      const body = Buffer.from('{"name":"é"}');
      response.write(body.subarray(0, 10), () => response.end(body.subarray(10)));
    });
    await using client = new TestEndpoint(server.url);
    expect(await client.post()).toMatchObject({ reply: { body: '{"name":"é"}' } });
  });

  it.each([204, 301, 302, 307, 308, 400, 401, 404, 429, 500, 503])(
    'returns a reply of status %d as it is, and follows no redirect',
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

  it('ignores interim replies', async () => {
    await using server = await RecordingServer.start((received, response) => {
      response.writeProcessing();
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      answerJson(received, response, { swapped: true });
    });
    await using client = new TestEndpoint(server.url);
    expect(await client.post()).toMatchObject({ reply: { status: 200, body: '{"swapped":true}' } });
  });

  it('calls onFirstByte in the turn in which undici writes the head: before it, nothing was sent', async () => {
    const turns: string[] = [];
    const onSendHeaders = (): void => void turns.push('head');
    subscribe(SENDS_HEADERS, onSendHeaders);
    onTestFinished(() => void unsubscribe(SENDS_HEADERS, onSendHeaders));
    await using server = await RecordingServer.start(replying({}));
    await using client = new TestEndpoint(server.url, { echo: 'always', connections: 2 });
    // Five exchanges over two connections: new ones and reused ones.
    await client.burst(5, {
      onFirstByte: () => {
        turns.push('first byte');
        queueMicrotask(() => turns.push('next turn'));
      },
    });
    const steps = turns.filter((turn) => turn !== 'next turn');
    expect(steps).toEqual(Array.from({ length: 5 }, () => ['first byte', 'head']).flat());
    expect(turns.join()).not.toContain('first byte,next turn');
  });
});

describe('the size limit', () => {
  it('is 64 KB; a longer body is refused, and its connection is dropped unread', async () => {
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
    await using server = await RecordingServer.start(replying({}));
    await using client = new TestEndpoint(server.url);
    expect(await client.post({}, timeLeftMs)).toEqual({
      kind: 'fault',
      fault: { cause: 'timeout', sent: false, detail: 'no time left to start' },
    });
    expect(server.connections).toHaveLength(0);
  });
});

describe('a connection that cannot be made or breaks', () => {
  it.each([
    ['refused', deadUrl, 'ECONNREFUSED'],
    ['without an address', () => 'http://operator.invalid', expect.any(String)],
  ])('%s: nothing was sent', async (_, url, detail) => {
    await using client = new TestEndpoint(await url());
    const fault = { cause: 'connection', sent: false, detail };
    expect(await client.post()).toEqual({ kind: 'fault', fault });
  });

  const short = ok('content-length: 20\r\n\r\n{"swapped":false}');
  const half = ok(`${CHUNKED}11\r\n{"swapped":false}\r\n`);

  it.each<[string, (socket: Socket | null) => void]>([
    ['reset before any byte of the reply', (socket) => socket?.resetAndDestroy()],
    ['closed before any byte of the reply', (socket) => socket?.destroy()],
    ['closed amid the head', (socket) => socket?.end(ok('content-length: 2\r\n'))],
    ['closed before the length that was announced', (socket) => socket?.end(short)],
    ['closed amid the chunks', (socket) => socket?.end(half)],
  ])('%s: the operator may have acted', async (_, breakOff) => {
    await using server = await RecordingServer.start((_received, { socket }) => breakOff(socket));
    await using client = new TestEndpoint(server.url);
    expect(await client.post()).toMatchObject({ fault: { cause: 'connection', sent: true } });
    expect(server.received).toHaveLength(1);
  });

  it('reset while idle: it is not used again', async () => {
    await using server = await RecordingServer.start(replying({}));
    await using client = new TestEndpoint(server.url, { echo: 'always' });
    await client.post();
    server.connections[0]?.socket.resetAndDestroy();
    await server.connections[0]?.closed;
    // The reset has arrived; the client reads it in its next turn.
    await settled();
    await settled();
    expect(await client.post()).toMatchObject({ reply: { status: 200 } });
    expect(server.connections).toHaveLength(2);
  });

  it('reset as the next exchange starts: the fault says whether it was sent', async () => {
    await using server = await RecordingServer.start(replying({}));
    await using client = new TestEndpoint(server.url, { echo: 'always' });
    await client.post();
    await settled();
    server.connections[0]?.socket.resetAndDestroy();
    const exchange = await client.post();
    const sent = exchange.kind === 'reply' || exchange.fault.sent;
    expect(server.received).toHaveLength(sent ? 2 : 1);
  });
});

describe('a reply that is not HTTP', () => {
  it.each([
    ['a greeting of another protocol', '220 mail.example.com ESMTP\r\n'],
    ['a status in letters', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['a length in letters', ok('content-length: two\r\n\r\n{}')],
    ['two lengths', ok('content-length: 2\r\ncontent-length: 3\r\n\r\n{}')],
    ['a length beside chunks', ok(`content-length: 2\r\n${CHUNKED}2\r\n{}\r\n0\r\n\r\n`)],
    ['a chunk without a length', ok(`${CHUNKED}zz\r\n`)],
    ['a head without an end', ok(`x-long: ${'x'.repeat(100_000)}`)],
  ])('is refused: %s', async (_, raw) => {
    // Written to the socket: Node's HTTP would not send it.
    await using server = await RecordingServer.start((_received, { socket }) => socket?.end(raw));
    await using client = new TestEndpoint(server.url);
    expect(await client.post()).toMatchObject({ fault: { cause: 'invalid-reply', sent: true } });
    expect(server.received).toHaveLength(1);
  });
});

it('each of many parallel exchanges gets its own reply', async () => {
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

it('closing an endpoint aborts its exchanges', async () => {
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
  ])('%s: nothing is sent, and the next exchange works', async (_, connections) => {
    await using server = await RecordingServer.start(replying({}));
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
    ['while waiting for the reply', () => signal.abort()],
    [
      'amid the body',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"swapped":', () => signal.abort());
      },
    ],
  ])('%s: the server sees the connection closed, and no other', async (_, answerHalf) => {
    await using server = await RecordingServer.start((received, response) => {
      if (received.correlator === 'exchange-1') answerHalf(response);
      else answerJson(received, response, {});
    });
    await using client = new TestEndpoint(server.url);
    const exchanges = await Promise.all([client.post({ signal }), client.post()]);
    expect(exchanges).toMatchObject([
      { fault: { ...CANCELLED, sent: true } },
      { reply: { status: 200 } },
    ]);
    await server.received.find(({ correlator }) => correlator === 'exchange-1')?.connection.closed;
  });

  it('after the exchange: the reply counts and the connection is kept', async () => {
    await using server = await RecordingServer.start(replying({}));
    await using client = new TestEndpoint(server.url, { echo: 'always' });
    const exchange = await client.post({ signal });
    signal.abort();
    expect(exchange).toMatchObject({ reply: { status: 200 } });
    await settled();
    await client.post();
    expect(server.connections).toHaveLength(1);
  });
});

async function continueAndReply({ correlator }: Received, response: ServerResponse): Promise<void> {
  for (const letter of 'HTTP/1.1 100\r\nx-a: b\r\n\r\n') {
    response.socket?.write(letter);
    await settled();
  }
  response.writeContinue();
  response.writeHead(200, { 'x-correlator': correlator }).end('{}');
}
