import { stat } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { IdleDetector } from '../../src/wire/spareConnections.ts';
import type { Exchange } from '../../src/wire/exchange.ts';
import { TestClock } from '../support/testClock.ts';
import { trustedCertificate } from '../tls/trustedCertificate.ts';
import { answerWithout, RecordingServer } from './recordingServer.ts';
import { AMPLE_MS, TestEndpoint } from './testEndpoint.ts';

const CERTIFICATE = trustedCertificate();
const AMPLE = { timeout: AMPLE_MS, interval: 10 };

/** A server without an echo, and a client with so many spare connections to it. */
async function withSpares(count: number) {
  const stack = new AsyncDisposableStack();
  const server = stack.use(await RecordingServer.start(answerWithout, CERTIFICATE));
  // Lulls begin when the test says so, not amid a burst on a busy machine.
  const lulls: (() => void)[] = [];
  const idleDetector = new IdleDetector(AMPLE_MS);
  vi.spyOn(idleDetector, 'onIdle').mockImplementation((listener) => {
    lulls.push(listener);
    return () => undefined;
  });
  const client = stack.use(new TestEndpoint(server.url, { http2: 'never', idleDetector }));
  for (const _ of [1, 2]) {
    await client.burst(count);
    for (const come of lulls) come();
  }
  // Not the list itself: printing so many sockets takes seconds.
  await vi.waitFor(() => expect(server.unused.length).toBe(count), AMPLE);
  return { server, client, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe('TLS', () => {
  it('all connections but the first resume a session, which survives garbage collection', async () => {
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

  it('verifies the certificate again after an hour, although the session could be resumed', async () => {
    const clock = new TestClock();
    await using server = await RecordingServer.start(answerWithout, CERTIFICATE);
    // No spare is made before the hour has passed.
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

it('spare connections that the server has written to while this process was busy are not handed over', async () => {
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
  await client.endpoint.close();
  await Promise.all(server.connections.map(({ closed }) => closed));
});
