import { stat } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { IdleDetector } from '../../src/http/connections/spareConnections.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { Random } from '../random.ts';
import { TestClock } from '../testClock.ts';
import { trustedCertificate } from '../tls/trustedCertificate.ts';
import { answerWithout, RecordingServer } from './recordingServer.ts';
import { isReply, TestEndpoint } from './testEndpoint.ts';

const CERTIFICATE = trustedCertificate();

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Lulls that come when a test says so. */
class Lulls extends IdleDetector {
  readonly #listeners = new Set<() => void>();

  override touch(): void {}

  override onIdle(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  come(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** A client after bursts, one soon after the other: after two of them spares are kept. */
async function warmClient(url: string, size: number, connections = 256, bursts = 2) {
  const idleDetector = new Lulls();
  const client = new TestEndpoint(url, { http2: 'never', idleDetector, connections });
  for (let burst = 0; burst < bursts; burst += 1) {
    await client.burst(size);
    idleDetector.come();
  }
  return { client, lull: () => idleDetector.come() };
}

async function sparesOf(server: RecordingServer, count: number): Promise<void> {
  // Not the list itself: to print so many sockets each time takes seconds.
  const options = { timeout: 5000, interval: 10 };
  await vi.waitFor(() => expect(server.unused.length).toBe(count), options);
}

/** A server without echo, and a client that keeps so many spare connections to it. */
async function withSpares(count: number) {
  const stack = new AsyncDisposableStack();
  const server = stack.use(await RecordingServer.start(answerWithout, CERTIFICATE));
  const { client } = await warmClient(server.url, count);
  stack.use(client);
  await sparesOf(server, count);
  return { server, client, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function lullOf(idleDetector: IdleDetector): Promise<void> {
  return new Promise((resolve) => idleDetector.onIdle(resolve));
}

describe('TLS', () => {
  it('all connections but the first resume a session, which no collection of garbage forgets', async () => {
    await using server = await RecordingServer.start(answerWithout, CERTIFICATE);
    await using client = new TestEndpoint(server.url, { http2: 'never' });
    for (let index = 0; index < 20; index += 1) {
      await client.post();
      globalThis.gc?.();
    }
    const [first, ...others] = server.connections;
    expect(first?.isResumed).toBe(false);
    expect(others.length).toBeGreaterThanOrEqual(19);
    expect(others.every(({ isResumed }) => isResumed)).toBe(true);
  });

  it('looks at a certificate again after an hour, whatever could be resumed', async () => {
    const clock = new TestClock();
    await using server = await RecordingServer.start(answerWithout, CERTIFICATE);
    // None is made ahead of the hour, however slow the machine.
    const idleDetector = new IdleDetector(60_000);
    await using client = new TestEndpoint(server.url, { http2: 'never', clock, idleDetector });
    await client.post();
    await client.post();
    await clock.advance(3_600_000);
    await client.post();
    const resumed = server.connections.slice(0, 3).map(({ isResumed }) => isResumed);
    expect(resumed).toEqual([false, true, false]);
  });
});

describe('spare connections', () => {
  it.concurrent('end when their life is over, and are not made again without need', async () => {
    await using server = await RecordingServer.start(answerWithout, CERTIFICATE);
    const { client } = await warmClient(server.url, 5);
    await using _client = client;
    await vi.waitFor(() => expect(server.connections).toHaveLength(15), { timeout: 5000 });
    await Promise.all(server.connections.map(({ closed }) => closed));
    expect(server.connections.filter(({ requests }) => requests === 0)).toHaveLength(5);
    expect(server.connections).toHaveLength(15);
  });

  it.concurrent(
    'are made once for each lookup of burst after burst, and none while a burst goes on',
    async () => {
      const size = 30;
      const bursts = 4;
      // So long that a busy machine ends no burst in its midst.
      const idleDetector = new IdleDetector(400);
      // Bursts follow each other: by this clock no time passes.
      const options = { http2: 'never', idleDetector, clock: new TestClock() } as const;
      await using server = await RecordingServer.start(answerWithout, CERTIFICATE);
      await using tokens = new TestEndpoint(server.url, options);
      await using lookups = new TestEndpoint(server.url, options);
      let madeInBursts = 0;
      for (let index = 0; index < bursts; index += 1) {
        const before = server.connections.length;
        const exchanges = await Promise.all(
          Array.from({ length: size }, () => tokens.post().then(() => lookups.post())),
        );
        expect(exchanges.every(isReply)).toBe(true);
        // No spares follow the first burst, so the second has none.
        if (index > 1) madeInBursts += server.connections.length - before;
        await (index === 0 ? lullOf(idleDetector) : sparesOf(server, 2 * size));
      }
      const handshakesALookup = server.connections.length / (2 * size * bursts);
      expect(handshakesALookup).toBeLessThanOrEqual((bursts + 1) / bursts);
      expect(server.connections.every(({ requests }) => requests <= 1)).toBe(true);
      expect(madeInBursts).toBe(0);
    },
  );

  it('are replaced one by one where they are taken one by one', async () => {
    const [clock, idleDetector] = [new TestClock(), new IdleDetector()];
    await using server = await RecordingServer.start(answerWithout, CERTIFICATE);
    await using client = new TestEndpoint(server.url, { http2: 'never', clock, idleDetector });
    await client.burst(8);
    await lullOf(idleDetector);
    await client.burst(8);
    await sparesOf(server, 8);
    const before = server.connections.length;
    for (let index = 0; index < 20; index += 1) {
      await client.post();
      await clock.advance(30);
    }
    await sparesOf(server, 4);
    expect(server.connections.length - before).toBeLessThanOrEqual(20);
  });

  it('are ready for one exchange after the other', async () => {
    await using server = await RecordingServer.start((received, response) => {
      setTimeout(() => answerWithout(received, response), 20);
    }, CERTIFICATE);
    await using client = new TestEndpoint(server.url, { http2: 'never' });
    for (let index = 0; index < 10; index += 1) await client.post();
    await vi.waitFor(() => expect(server.unused.length).toBeGreaterThan(0));
    const spares = server.unused;
    await client.post();
    expect(spares.filter(({ requests }) => requests === 1)).toHaveLength(1);
  });

  it('are never more than a hundred, nor more than the connections that are allowed', async () => {
    await using server = await RecordingServer.start(answerWithout, CERTIFICATE);
    const { client, lull } = await warmClient(server.url, 30, 8);
    await using _client = client;
    await sparesOf(server, 8);
    lull();
    await client.post();
    expect(server.unused.length).toBeLessThanOrEqual(8);
  });

  it('leave room for those in use: together no more than the connections that are allowed', async () => {
    const held: (() => void)[] = [];
    let isHeld = false;
    await using server = await RecordingServer.start((received, response) => {
      if (isHeld) held.push(() => answerWithout(received, response));
      else answerWithout(received, response);
    }, CERTIFICATE);
    const { client, lull } = await warmClient(server.url, 8, 8);
    await using _client = client;
    await sparesOf(server, 8);
    isHeld = true;
    const exchanges = client.burst(8);
    await vi.waitFor(() => expect(held).toHaveLength(8));
    lull();
    await pause(50);
    expect(server.unused).toHaveLength(0);
    for (const answer of held) answer();
    expect((await exchanges).every(isReply)).toBe(true);
    await sparesOf(server, 8);
  });

  it('are not made for a burst that none came before', async () => {
    await using server = await RecordingServer.start(answerWithout, CERTIFICATE);
    const { client } = await warmClient(server.url, 10, 256, 1);
    await using _client = client;
    await pause(50);
    expect(server.connections).toHaveLength(10);
  });

  it('that the server has closed are not handed over', async () => {
    await using started = await withSpares(10);
    const { server, client } = started;
    for (const { socket } of server.unused) socket.end();
    await Promise.all(server.connections.map(({ closed }) => closed));
    expect((await client.burst(10)).every(isReply)).toBe(true);
  });

  it('that the server has spoken on are not handed over', async () => {
    await using started = await withSpares(10);
    const { server, client } = started;
    for (const { socket } of server.unused) {
      socket.write('HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n');
    }
    await sparesOf(server, 0);
    expect((await client.burst(10)).every(isReply)).toBe(true);
  });

  it('that the server has spoken on just now, while this process was busy, are not handed over', async () => {
    await using started = await withSpares(10);
    const { server, client } = started;
    // In a callback of the poll phase: the sockets are read again only after it, and after its immediates.
    const exchange = await new Promise<Exchange>((resolve) => {
      stat('.', () => {
        for (const { socket } of server.unused) {
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 17\r\n\r\n{"swapped":false}');
        }
        resolve(client.post());
      });
    });
    expect(exchange).toMatchObject({ kind: 'reply', reply: { status: 200, body: '{}' } });
  });

  it('closed at random by the server cost no exchange: soon there are none', async () => {
    const random = new Random(1);
    // One that is closed while a request is on its way to it costs that exchange, whoever keeps it.
    let isResting = false;
    await using server = await RecordingServer.start(answerWithout, CERTIFICATE, (connection) => {
      const close = (): void => {
        if (connection.requests > 0) return;
        if (isResting) connection.socket.destroy();
        else setTimeout(close, 20).unref();
      };
      setTimeout(close, 100 + random.below(200)).unref();
    });
    await using client = new TestEndpoint(server.url, { http2: 'never' });
    const exchanges: Exchange[] = [];
    for (let round = 0; round < 5; round += 1) {
      exchanges.push(...(await client.burst(8)));
      isResting = true;
      await pause(200);
      isResting = false;
      await pause(20);
    }
    expect(exchanges.filter((one) => !isReply(one))).toEqual([]);
    // Before their own life is over.
    await vi.waitFor(() => expect(server.unused).toHaveLength(0), { timeout: 1500 });
  });

  it('are closed with their endpoint', async () => {
    await using started = await withSpares(5);
    const { server, client } = started;
    await client.endpoint.close();
    await Promise.all(server.connections.map(({ closed }) => closed));
    expect(server.unused).toHaveLength(0);
  });
});
