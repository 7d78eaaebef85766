import { once } from 'node:events';
import { constants } from 'node:http2';
import type { Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { MAX_CONNECTION_AGE_MS } from '../../src/http/connections/http1Connections.ts';
import { settled, TestClock } from '../testClock.ts';
import { trustedCertificate } from '../tls/trustedCertificate.ts';
import { answerByStream, Http2Server, type ReceivedByStream } from './http2Server.ts';
import {
  data,
  goAway as goAwayFrame,
  interimHead,
  okHead,
  onStream,
  RawHttp2Server,
  reset,
  SETTINGS,
} from './rawHttp2Server.ts';
import { DEPARTURE, outcome, TestEndpoint } from './testEndpoint.ts';
import { LightAbortSignal } from '../../src/http/urgency.ts';

const CERTIFICATE = trustedCertificate();

const {
  NGHTTP2_REFUSED_STREAM: REFUSED,
  NGHTTP2_INTERNAL_ERROR: BROKEN,
  NGHTTP2_NO_ERROR: SHUTDOWN,
  NGHTTP2_ENHANCE_YOUR_CALM: CALM,
} = constants;

function echoless(received: ReceivedByStream): void {
  answerByStream(received, { for: received.correlator });
}

describe('an exchange over HTTP/2', () => {
  it('sends one POST with its query, its headers, whatever their case, its body and its correlator, and reads the reply', async () => {
    await using server = await Http2Server.start(CERTIFICATE, (received) =>
      answerByStream(received, { swapped: true }),
    );
    await using client = new TestEndpoint(`${server.url}?tenant=eu`, {
      headers: { 'X-Partner': 'ours', Connection: 'close', 'HTTP2-Settings': 'x' },
    });
    const exchange = await client.post({
      headers: ['Authorization', 'Bearer abc'],
      query: 'grant_type=client_credentials',
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
      body: '{"maxAge":240}',
      headers: {
        ':method': 'POST',
        ':scheme': 'https',
        ':authority': `127.0.0.1:${server.port}`,
        ':path': '/check?tenant=eu&grant_type=client_credentials',
        'content-type': 'application/json',
        'content-length': '14',
        accept: 'application/json',
        authorization: 'Bearer abc',
        'x-correlator': 'request-1',
        'x-partner': 'ours',
      },
    });
    expect(server.received[0]?.headers).not.toHaveProperty('connection');
  });

  it.each([204, 302, 500])(
    'passes over interim replies, and hands one of status %d without a body on as it is',
    async (status) => {
      await using server = await Http2Server.start(CERTIFICATE, ({ stream }) => {
        stream.additionalHeaders({ ':status': 103 });
        stream.respond({ ':status': status }, { endStream: true });
      });
      await using client = new TestEndpoint(server.url);
      expect(await client.post()).toMatchObject({ reply: { status, body: '' } });
      expect(server.received).toHaveLength(1);
    },
  );

  it('a hundred at a time take one connection, echo nothing, and get each its own reply', async () => {
    await using server = await Http2Server.start(CERTIFICATE, echoless);
    await using client = new TestEndpoint(server.url);
    expect(await client.burst(100)).toMatchObject(
      Array.from({ length: 100 }, (_, index) => ({
        reply: { body: `{"for":"exchange-${index + 1}"}` },
      })),
    );
    expect(server.sessions).toHaveLength(1);
  });
});

/** A server that answers the first exchange, and then does what is given. */
function startAfterOne(
  misbehave: (received: ReceivedByStream) => void,
  options: Parameters<typeof Http2Server.start>[2] = {},
): Promise<Http2Server> {
  let isFirst = true;
  const answer = (received: ReceivedByStream): void => {
    if (isFirst) echoless(received);
    else misbehave(received);
    isFirst = false;
  };
  return Http2Server.start(CERTIFICATE, answer, options);
}

const SENT = 'connection, sent';
const UNSENT = 'connection, unsent';

const closing =
  (code: number) =>
  ({ stream }: ReceivedByStream): void =>
    stream.close(code);

describe('a stream that is ended by the server', () => {
  it.each<[string, string, (received: ReceivedByStream) => void]>([
    ['refused', UNSENT, closing(REFUSED)],
    ['reset', SENT, closing(BROKEN)],
    ['ended without a reply', SENT, closing(SHUTDOWN)],
    [
      'closed before the length that was announced',
      SENT,
      ({ stream }) => {
        stream.respond({ ':status': 200, 'content-length': '20' });
        stream.write('{"swapped":false}', () => stream.close(SHUTDOWN));
      },
    ],
  ])('%s: %s', async (_, expected, misbehave) => {
    await using server = await startAfterOne(misbehave);
    await using client = new TestEndpoint(server.url);
    expect(outcome(await client.post())).toBe('200');
    expect(outcome(await client.post())).toBe(expected);
    expect(server.received).toHaveLength(2);
  });

  it('takes no other stream with it', async () => {
    const held: ReceivedByStream[] = [];
    await using server = await startAfterOne((received) => {
      held.push(received);
      if (held.length < 3) return;
      held[1]?.stream.close(BROKEN);
      for (const one of [held[0], held[2]]) if (one !== undefined) echoless(one);
    });
    await using client = new TestEndpoint(server.url);
    await client.post();
    const exchanges = await client.burst(3);
    expect(exchanges.map(outcome)).toEqual(['200', SENT, '200']);
    expect(server.sessions).toHaveLength(1);
  });
});

describe('a reply that is cut', () => {
  it.each<[string, (stream: number) => Buffer[]]>([
    ['by a refusal: it was acted on', (id) => [okHead(id), data(id, '{"swap'), reset(id, REFUSED)]],
    ['by a refusal after an interim reply', (id) => [interimHead(id), reset(id, REFUSED)]],
    ['by GOAWAY after an interim reply', (id) => [interimHead(id), goAwayFrame(BROKEN)]],
    ['by a shutdown after an interim reply', (id) => [interimHead(id), goAwayFrame(SHUTDOWN)]],
    ['by a reset', (id) => [okHead(id), data(id, '{"swapped":false}'), reset(id, BROKEN)]],
  ])('%s', async (_, frames) => {
    await using server = await RawHttp2Server.start(CERTIFICATE, (socket) => {
      socket.write(SETTINGS);
      onStream(socket, (stream) => socket.write(Buffer.concat(frames(stream))));
    });
    await using client = new TestEndpoint(server.url);
    expect(outcome(await client.post())).toBe(SENT);
  });
});

/** Holds three exchanges, then says which of them was the last to be acted on. */
async function goAway(code: number, lastOfHeld: number, thenAnswers: boolean) {
  const held: ReceivedByStream[] = [];
  const server = await startAfterOne((received) => {
    if (received.session !== server.sessions[0]) {
      echoless(received);
      return;
    }
    held.push(received);
    if (held.length < 3) return;
    const last = held[lastOfHeld]?.stream.id ?? 0;
    received.session.goaway(code, last);
    if (!thenAnswers) return;
    for (const one of held) if ((one.stream.id ?? 0) <= last) echoless(one);
  });
  await using _server = server;
  await using client = new TestEndpoint(server.url);
  await client.post();
  const exchanges = await client.burst(3);
  return { outcomes: exchanges.map(outcome), received: server.received.length - 1 };
}

describe('GOAWAY', () => {
  it.each<[string, number, number, string[]]>([
    ['with an error: a doubt for each that may have been acted on', CALM, 1, [SENT, SENT, UNSENT]],
    ['with the code of a refusal is not one', REFUSED, 2, [SENT, SENT, SENT]],
  ])('%s', async (_, code, lastOfHeld, expected) => {
    expect((await goAway(code, lastOfHeld, false)).outcomes).toEqual(expected);
  });

  it('of a shutdown: what was acted on is answered, what was not goes to another connection once', async () => {
    const { outcomes, received } = await goAway(SHUTDOWN, 0, true);
    expect(outcomes).toEqual(['200', '200', '200']);
    expect(received).toBe(5);
  });

  it('at one connection after the other: an exchange is not carried around without an end', async () => {
    const held: ReceivedByStream[] = [];
    await using server = await startAfterOne((received) => {
      held.push(received);
      if (held.length % 2 === 1) return;
      received.session.goaway(SHUTDOWN, 1);
      const [accepted] = held.filter(({ stream }) => stream.id === 1);
      if (accepted !== undefined) echoless(accepted);
    });
    await using client = new TestEndpoint(server.url);
    await client.post();
    const exchanges = await client.burst(2);
    expect(exchanges.map(outcome)).toEqual(['200', UNSENT]);
    expect(server.received).toHaveLength(5);
    expect(server.sessions).toHaveLength(2);
  });
});

describe('a connection', () => {
  it('that was idle and died is not used again', async () => {
    await using server = await Http2Server.start(CERTIFICATE, echoless);
    await using client = new TestEndpoint(server.url);
    await client.post();
    const [first] = server.sessions;
    server.resetConnections();
    if (first?.closed === false) await once(first, 'close');
    // The reset is here; the client reads it in its next turn.
    await settled();
    await settled();
    expect(outcome(await client.post())).toBe('200');
    expect(server.sessions).toHaveLength(2);
  });

  it('that is old is replaced while it carries on: nothing waits, nothing is left in doubt', async () => {
    const clock = new TestClock();
    const held: ReceivedByStream[] = [];
    await using server = await Http2Server.start(CERTIFICATE, (received) => {
      if (received.correlator === 'held') held.push(received);
      else echoless(received);
    });
    await using client = new TestEndpoint(server.url, { clock });
    await client.post();
    const slow = client.post({ correlator: 'held' });
    await vi.waitFor(() => expect(held).toHaveLength(1));
    await clock.advance(MAX_CONNECTION_AGE_MS);
    expect(server.sessions).toHaveLength(1);
    expect(await client.post({ correlator: 'by the old one' })).toMatchObject({ kind: 'reply' });
    await vi.waitFor(async () => {
      await client.post();
      expect(server.received.at(-1)?.session).toBe(server.sessions[1]);
    });
    expect(server.received[2]?.session).toBe(server.sessions[0]);
    expect(server.openConnections).toBe(2);
    for (const received of held) echoless(received);
    expect(await slow).toMatchObject({ kind: 'reply', reply: { status: 200 } });
    await vi.waitFor(() => expect(server.openConnections).toBe(1));
    expect(server.sessions).toHaveLength(2);
  });

  it('that is old carries on where no other can be made, which is tried once a minute', async () => {
    const clock = new TestClock();
    let isOpen = true;
    const refused: Socket[] = [];
    const onConnection = (socket: Socket): void => {
      if (isOpen) return;
      refused.push(socket);
      socket.destroy();
    };
    await using server = await Http2Server.start(CERTIFICATE, echoless, { onConnection });
    await using client = new TestEndpoint(server.url, { clock });
    await client.post();
    isOpen = false;
    await clock.advance(MAX_CONNECTION_AGE_MS);
    for (let index = 0; index < 5; index += 1) {
      expect(await client.post()).toMatchObject({ kind: 'reply' });
    }
    await vi.waitFor(() => expect(refused).toHaveLength(1));
    expect(await client.post()).toMatchObject({ kind: 'reply' });
    isOpen = true;
    await clock.advance(60_000);
    await vi.waitFor(async () => {
      await client.post();
      expect(server.received.at(-1)?.session).toBe(server.sessions[1]);
    });
    expect(refused).toHaveLength(1);
  });

  it('that falls silent is not waited for twice', async () => {
    let isSilent = false;
    await using server = await Http2Server.start(CERTIFICATE, (received) => {
      if (!isSilent || received.session !== server.sessions[0]) echoless(received);
    });
    await using client = new TestEndpoint(server.url, { timeoutMs: 400 });
    await client.post();
    isSilent = true;
    expect(outcome(await client.post())).toBe('timeout, sent');
    expect(outcome(await client.post())).toBe('200');
    expect(server.sessions).toHaveLength(2);
  });

  it('is kept when a caller hangs up before anything can have come', async () => {
    await using server = await startAfterOne((received) => {
      if (received.correlator !== 'hung up') echoless(received);
    });
    await using client = new TestEndpoint(server.url);
    await client.post();
    const caller = new LightAbortSignal();
    const hungUp = client.post({ correlator: 'hung up', signal: caller });
    caller.abort();
    expect(outcome(await hungUp)).toBe('cancelled, sent');
    expect(outcome(await client.post())).toBe('200');
    expect(server.sessions).toHaveLength(1);
  });

  it('that takes no further streams is closed with its endpoint', async () => {
    await using server = await startAfterOne(({ session, stream }) =>
      session.goaway(SHUTDOWN, stream.id),
    );
    const client = new TestEndpoint(server.url);
    await client.post();
    const underWay = client.post();
    await vi.waitFor(() => expect(server.received).toHaveLength(2));
    await client.endpoint.close();
    expect(outcome(await underWay)).toBe(SENT);
  });
});

describe('what cannot be sent', () => {
  it('for a header that HTTP/2 forbids, or by an endpoint that is closed: unsent, at once', async () => {
    await using server = await Http2Server.start(CERTIFICATE, echoless);
    const client = new TestEndpoint(server.url);
    const forbidden = { headers: ['http2-settings', 'x'] };
    const exchanges = [client.post(), client.post(forbidden), client.post()];
    const outcomes = (await Promise.all(exchanges)).map(outcome);
    expect(outcomes).toEqual(['200', UNSENT, '200']);
    await client.endpoint.close();
    expect(outcome(await client.post())).toBe(UNSENT);
  });
});

describe('limits', () => {
  it('of one stream are kept: the others wait their turn, unsent, or take connections of their own', async () => {
    let atATime = 0;
    let most = 0;
    await using server = await Http2Server.start(
      CERTIFICATE,
      (received) => {
        setImmediate(() => {
          atATime -= 1;
          echoless(received);
        });
      },
      {
        settings: { maxConcurrentStreams: 1 },
        onHead: () => {
          atATime += 1;
          most = Math.max(most, atATime);
        },
      },
    );
    await using client = new TestEndpoint(server.url, { connections: 2 });
    const exchanges = await client.burst(20);
    expect(exchanges.map(outcome)).toEqual(Array(20).fill('200'));
    expect(server.sessions).toHaveLength(2);
    expect(most).toBeLessThanOrEqual(2);
  });

  it.each([0, 1])(
    'of %d streams: a deadline that passes while it waits is unsent',
    async (limit) => {
      const settings = { maxConcurrentStreams: limit };
      await using server = await startAfterOne(() => undefined, { settings });
      await using client = new TestEndpoint(server.url, { connections: 1 });
      await client.post();
      const exchanges = await Promise.all([client.post({}, 300), client.post({}, 50)]);
      const first = limit === 1 ? 'timeout, sent' : 'timeout, unsent';
      expect(exchanges.map(outcome)).toEqual([first, 'timeout, unsent']);
      expect(server.received.length).toBeLessThanOrEqual(1 + limit);
      expect(server.sessions).toHaveLength(1);
    },
  );

  it('takes a body of 64 KB, and refuses a byte more, and a head over 16 KB', async () => {
    const body = 'x'.repeat(64 * 1024);
    await using server = await Http2Server.start(CERTIFICATE, ({ stream, correlator }) => {
      const head = correlator === 'long head' ? { 'x-long': 'x'.repeat(20_000) } : {};
      stream.respond({ ':status': 200, ...head });
      stream.end(correlator === 'more' ? `${body}x` : body);
    });
    await using client = new TestEndpoint(server.url);
    expect(await client.post()).toMatchObject({ reply: { body } });
    expect(outcome(await client.post({ correlator: 'more' }))).toBe('too large, sent');
    expect(outcome(await client.post({ correlator: 'long head' }))).toMatch(/, sent$/);
  });
});

describe('a deadline', () => {
  it('ends only its own stream, and the server sees it', async () => {
    const slow: ReceivedByStream[] = [];
    await using server = await Http2Server.start(CERTIFICATE, (received) => {
      if (received.correlator === 'slow') slow.push(received);
      else setTimeout(() => echoless(received), 100);
    });
    await using client = new TestEndpoint(server.url);
    await client.post();
    const exchanges = await Promise.all([
      client.post(),
      client.post({ correlator: 'slow' }, 50),
      client.post(),
    ]);
    expect(exchanges.map(outcome)).toEqual(['200', 'timeout, sent', '200']);
    expect(slow[0]?.stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
  });

  it.concurrent('ends a stream whose window is stalled: its head may have been read', async () => {
    await using server = await Http2Server.start(CERTIFICATE, echoless, {
      settings: { initialWindowSize: 0 },
    });
    await using client = new TestEndpoint(server.url);
    expect(outcome(await client.post({ body: 'x'.repeat(100_000) }, 1000))).toBe('timeout, sent');
    expect(server.received).toHaveLength(0);
  });

  it.concurrent('ends interim heads without an end', async () => {
    await using server = await Http2Server.start(CERTIFICATE, ({ stream }) => {
      const drip = setInterval(() => stream.additionalHeaders({ ':status': 103 }), 5);
      stream.on('close', () => clearInterval(drip));
    });
    await using client = new TestEndpoint(server.url);
    expect(outcome(await client.post({}, 300))).toBe('timeout, sent');
  });

  it('cancelled streams do not pile up: the server holds none, and after a hundred the connection is another', async () => {
    let open = 0;
    await using server = await Http2Server.start(CERTIFICATE, (received) => {
      if (received.correlator.startsWith('exchange')) {
        open += 1;
        received.stream.on('close', () => (open -= 1));
        return;
      }
      echoless(received);
    });
    await using client = new TestEndpoint(server.url);
    await client.post({ correlator: 'answered' });
    for (let round = 0; round < 2; round += 1) {
      const silent = client.burst(60, {}, 60);
      const heard = Array.from({ length: 5 }, async (_, index) => {
        await new Promise((resolve) => setTimeout(resolve, 5 * index));
        return client.post({ correlator: `answered-${round}-${index}` });
      });
      expect((await silent).map(outcome)).toEqual(Array(60).fill('timeout, sent'));
      expect((await Promise.all(heard)).map(outcome)).toEqual(Array(5).fill('200'));
    }
    await client.post({ correlator: 'answered-last' });
    expect(open).toBe(0);
    expect(server.sessions.length).toBeGreaterThanOrEqual(2);
    expect(server.openConnections).toBe(1);
  });
});

describe('whose reply it is', () => {
  it.each<['auto' | 'always' | 'never', string, (string | undefined)[], string[]]>([
    ['auto', "another exchange's", ['own', 'exchange-1'], ['200', 'another correlator, sent']],
    ['auto', 'none, once it has echoed', ['own', undefined], ['200', 'no correlator, sent']],
    ['auto', 'none in an error, which came on its own stream', ['own', '404'], ['200', '404']],
    ['always', 'none', [undefined], ['no correlator, never ours, sent']],
    ['never', "its gateway's own", ['gateway', 'gateway'], ['200', '200']],
  ])('%s, and it names %s', async (echo, _, named, expected) => {
    let count = 0;
    await using server = await Http2Server.start(CERTIFICATE, (received) => {
      const name = named[count];
      count += 1;
      const correlator = name === 'own' ? received.correlator : name;
      if (name === '404') answerByStream(received, {}, { status: 404 });
      else answerByStream(received, {}, correlator === undefined ? {} : { correlator });
    });
    await using client = new TestEndpoint(server.url, { echo });
    const outcomes: string[] = [];
    while (outcomes.length < named.length) outcomes.push(outcome(await client.post()));
    expect(outcomes).toEqual(expected);
  });
});
