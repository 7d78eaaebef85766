import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { BodyPace } from '../../src/graphql/bodyPace.ts';
import { startWired } from '../support/service.ts';

const CLIENTS = 60;
const BODY_BYTES = 300_000;
const READ_BYTES = 64 * 1024;

const service = await startWired();
afterAll(() => service.stop());

it.each([
  ['are read', ''],
  ['are refused and dropped', 'content-type: text/plain\r\n'],
])('bodies that %s take a few reads a turn of the loop, and all end', async (_, header) => {
  const served: Socket[] = [];
  const onRequest = (message: unknown): void => {
    served.push((message as { request: IncomingMessage }).request.socket);
  };
  subscribe('http.server.request.start', onRequest);
  const port = Number(new URL(service.url).port);
  const replies = Array.from({ length: CLIENTS }, () => '');
  const clients = replies.map((_reply, index) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('data', (reply: Buffer) => (replies[index] += reply.toString()));
    socket.write(
      `POST /graphql HTTP/1.1\r\nhost: localhost\r\n${header || 'content-type: application/json\r\n'}content-length: ${BODY_BYTES}\r\nconnection: close\r\n\r\n `,
    );
    return socket;
  });
  while (served.length < CLIENTS) await nextTurn();
  unsubscribe('http.server.request.start', onRequest);

  const bytesRead = (): number => served.reduce((sum, socket) => sum + socket.bytesRead, 0);
  for (const socket of clients) socket.write(Buffer.alloc(BODY_BYTES - 1, ' '));
  const turns: number[] = [];
  for (let before = bytesRead(); clients.some((client) => !client.closed); before = bytesRead()) {
    await nextTurn();
    turns.push(bytesRead() - before);
  }
  // At first none is paused, and of a paused one a read may be in two parts.
  const [, ...later] = turns.filter((bytes) => bytes > 0);
  expect(Math.max(...later) / READ_BYTES).toBeLessThanOrEqual(8);
  expect(bytesRead()).toBeGreaterThan(CLIENTS * BODY_BYTES);
  for (const reply of replies) expect(reply).toMatch(/^HTTP\/1\.1 4\d\d /);
});

it('four a turn of the loop go on, one caller after the other', async () => {
  const pace = new BodyPace();
  const ended: string[] = [];
  for (const caller of ['hostile', 'hostile', 'hostile', 'hostile', 'hostile', 'polite']) {
    pace.turn(caller, () => void ended.push(caller));
  }
  await nextTurn();
  expect(ended).toEqual(['hostile', 'polite', 'hostile', 'hostile']);
  await nextTurn();
  expect(ended).toHaveLength(6);
});
