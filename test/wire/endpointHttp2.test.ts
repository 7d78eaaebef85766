import { once } from 'node:events';
import { constants, sensitiveHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { MAX_CONNECTION_AGE_MS } from '../../src/wire/http1Connections.ts';
import { settled, TestClock } from '../support/testClock.ts';
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
import { A_DEPARTURE, AMPLE_MS, outcome, TestEndpoint } from './testEndpoint.ts';
import { LightAbortSignal } from '../../src/system/urgency.ts';

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
  it('sends one POST with the pseudo-headers, and without the headers of HTTP/1.1', async () => {
    await using server = await Http2Server.start(CERTIFICATE, (received) =>
      answerByStream(received, { swapped: true }),
    );
    await using client = new TestEndpoint(`${server.url}?tenant=eu`, {
      headers: { 'X-Partner': 'ours', Connection: 'close', 'HTTP2-Settings': 'x' },
    });
    const query = 'grant_type=client_credentials';
    const exchange = await client.post({ headers: ['Authorization', 'Bearer abc'], query });

    const headers = expect.objectContaining({ 'content-type': 'application/json' }) as object;
    const reply = { status: 200, headers, body: '{"swapped":true}' };
    expect(exchange).toEqual({ kind: 'reply', reply, ...A_DEPARTURE });
    const [received] = server.received;
    expect(received?.body).toBe('{}');
    expect({ ...received?.headers }).toEqual({
      [sensitiveHeaders]: ['x-correlator', 'authorization'],
      ':method': 'POST',
      ':scheme': 'https',
      ':authority': `127.0.0.1:${server.port}`,
      ':path': `/check?tenant=eu&${query}`,
      'content-type': 'application/json',
      'content-length': '2',
      accept: 'application/json',
      authorization: 'Bearer abc',
      'x-correlator': 'exchange-1',
      'x-partner': 'ours',
    });
  });

  it.each([204, 302, 500])(
    'ignores interim replies, and returns one of status %d without a body as it is',
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

  it('is one of a hundred on a connection, each with its own reply, without an echo', async () => {
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

/** A server that answers the first exchange and misbehaves afterwards. */
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

describe('a stream that the server ends', () => {
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

  it('does not affect other streams', async () => {
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
    ['by a refusal after its head', (id) => [okHead(id), data(id, '{"swap'), reset(id, REFUSED)]],
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

/** Holds three exchanges, then names the last one that it acted on. */
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
    ['with an error: those that it may have acted on are in doubt', CALM, 1, [SENT, SENT, UNSENT]],
    ['with the code of a refusal: the same', REFUSED, 2, [SENT, SENT, SENT]],
  ])('%s', async (_, code, lastOfHeld, expected) => {
    expect((await goAway(code, lastOfHeld, false)).outcomes).toEqual(expected);
  });

  it('of a shutdown: accepted exchanges are answered, the others move to another connection once', async () => {
    const { outcomes, received } = await goAway(SHUTDOWN, 0, true);
    expect(outcomes).toEqual(['200', '200', '200']);
    expect(received).toBe(5);
  });

  it('of one connection after the other: an exchange moves once', async () => {
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
  it('reset while idle is not used again', async () => {
    await using server = await Http2Server.start(CERTIFICATE, echoless);
    await using client = new TestEndpoint(server.url);
    await client.post();
    const [first] = server.sessions;
    server.resetConnections();
    if (first?.closed === false) await once(first, 'close');
    // The reset has arrived; the client reads it in its next turn.
    await settled();
    await settled();
    expect(outcome(await client.post())).toBe('200');
    expect(server.sessions).toHaveLength(2);
  });

  it('that is old is replaced while its streams continue: nothing waits or is in doubt', async () => {
    const clock = new TestClock();
    const held: ReceivedByStream[] = [];
    await using server = await Http2Server.start(CERTIFICATE, (received) => {
      if (received.correlator === 'held') held.push(received);
      else echoless(received);
    });
    await using client = new TestEndpoint(server.url, { clock });
    await client.post();
    const slow = client.post({ correlator: 'held' });
    await expect.poll(() => held.length).toBe(1);
    await clock.advance(MAX_CONNECTION_AGE_MS);
    expect(server.sessions).toHaveLength(1);
    expect(await client.post({ correlator: 'by the old one' })).toMatchObject({ kind: 'reply' });
    await vi.waitFor(async () => {
      await client.post();
      expect(server.received.at(-1)?.session).toBe(server.sessions[1]);
    }, AMPLE_MS);
    expect(server.received[2]?.session).toBe(server.sessions[0]);
    expect(server.openConnections).toBe(2);
    for (const received of held) echoless(received);
    expect(await slow).toMatchObject({ kind: 'reply', reply: { status: 200 } });
    await expect.poll(() => server.openConnections).toBe(1);
    expect(server.sessions).toHaveLength(2);
  });

  it('that is old continues where it cannot be replaced, which is tried once a minute', async () => {
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
    await expect.poll(() => refused.length).toBe(1);
    expect(await client.post()).toMatchObject({ kind: 'reply' });
    isOpen = true;
    await clock.advance(60_000);
    await vi.waitFor(async () => {
      await client.post();
      expect(server.received.at(-1)?.session).toBe(server.sessions[1]);
    }, AMPLE_MS);
    expect(refused).toHaveLength(1);
  });

  it('that falls silent times out once', async () => {
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

  it('is kept when a caller hangs up before a reply is due', async () => {
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

  it('that is retired is closed with its endpoint', async () => {
    await using server = await startAfterOne(({ session, stream }) =>
      session.goaway(SHUTDOWN, stream.id),
    );
    const client = new TestEndpoint(server.url);
    await client.post();
    const underWay = client.post();
    await expect.poll(() => server.received.length).toBe(2);
    await client.endpoint.close();
    expect(outcome(await underWay)).toBe(SENT);
  });
});

describe('what cannot be sent', () => {
  it('because of a forbidden header or a closed endpoint is unsent, at once', async () => {
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
  it('of one stream hold: the others wait, or take another connection', async () => {
    const held: ReceivedByStream[] = [];
    let most = 0;
    const answer = (received: ReceivedByStream): void => {
      most = Math.max(most, held.push(received));
      setImmediate(() => echoless(held.shift() ?? received));
    };
    const settings = { maxConcurrentStreams: 1 };
    await using server = await Http2Server.start(CERTIFICATE, answer, { settings });
    await using client = new TestEndpoint(server.url, { connections: 2 });
    expect((await client.burst(20)).map(outcome)).toEqual(Array(20).fill('200'));
    expect(server.sessions).toHaveLength(2);
    expect(most).toBeLessThanOrEqual(2);
  });

  it.each([0, 1])(
    'of %d streams: an exchange that waits until its deadline is unsent',
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

  it.concurrent('ends a stream with a stalled window: its head may have been read', async () => {
    await using server = await Http2Server.start(CERTIFICATE, echoless, {
      settings: { initialWindowSize: 0 },
    });
    await using client = new TestEndpoint(server.url);
    expect(outcome(await client.post({ body: 'x'.repeat(100_000) }, 1000))).toBe('timeout, sent');
    expect(server.received).toHaveLength(0);
  });

  it.concurrent('ends endless interim replies', async () => {
    await using server = await Http2Server.start(CERTIFICATE, ({ stream }) => {
      const drip = setInterval(() => stream.additionalHeaders({ ':status': 103 }), 5);
      stream.on('close', () => clearInterval(drip));
    });
    await using client = new TestEndpoint(server.url);
    expect(outcome(await client.post({}, 300))).toBe('timeout, sent');
  });

  it('leaves no stream at the server; after a hundred the connection is replaced', async () => {
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
    ['always', 'none', [undefined], ['no correlator, and ours was never echoed, sent']],
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
