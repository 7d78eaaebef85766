import { stat } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { IdleDetector } from '../../src/http/connections/spareConnections.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { TestClock } from '../testClock.ts';
import { trustedCertificate } from '../tls/trustedCertificate.ts';
import { answerWithout, RecordingServer } from './recordingServer.ts';
import { AMPLE_MS, isReply, TestEndpoint } from './testEndpoint.ts';

const CERTIFICATE = trustedCertificate();
const AMPLE = { timeout: 5000, interval: 10 };

/** A server without echo, and a client that keeps so many spare connections to it. */
async function withSpares(count: number) {
  const stack = new AsyncDisposableStack();
  const server = stack.use(await RecordingServer.start(answerWithout, CERTIFICATE));
  // Lulls come when the test says so, and not in the midst of a burst on a busy machine.
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
  // Not the list itself: to print so many sockets each time takes seconds.
  await vi.waitFor(() => expect(server.unused.length).toBe(count), AMPLE);
  return { server, client, [Symbol.asyncDispose]: () => stack.disposeAsync() };
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
  it('that the server has closed are not handed over', async () => {
    await using started = await withSpares(10);
    const { server, client } = started;
    for (const { socket } of server.unused) socket.end();
    await Promise.all(server.connections.map(({ closed }) => closed));
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

  it('are closed with their endpoint', async () => {
    await using started = await withSpares(5);
    const { server, client } = started;
    await client.endpoint.close();
    await Promise.all(server.connections.map(({ closed }) => closed));
    expect(server.unused).toHaveLength(0);
  });
});
