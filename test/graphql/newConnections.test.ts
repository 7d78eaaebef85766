import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { startWired } from '../support/service.ts';

const MAX_READ = 16;
const REQUEST = 'GET /livez HTTP/1.1\r\nhost: localhost\r\n';

const service = await startWired();
afterAll(() => service.stop());

/** Connections that have been accepted, and have sent `bytes` of a request. */
async function connected(count: number, bytes = ''): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: count }, () =>
    connect(Number(new URL(service.url).port), '127.0.0.1'),
  );
  for (const socket of sockets) socket.write(bytes);
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  // One is accepted a turn.
  for (let turn = 0; turn < 4 * count; turn += 1) await nextTurn();
  return sockets;
}

/** How many of them get their replies in each turn of the event loop. */
async function repliesByTurn(sockets: readonly Socket[]): Promise<readonly number[]> {
  let replies = 0;
  for (const socket of sockets) {
    socket.once('data', (reply: Buffer) => {
      if (reply.toString().startsWith('HTTP/1.1 200')) replies += 1;
    });
    socket.write(`${REQUEST}connection: close\r\n\r\n`);
  }
  const ended = Promise.all(sockets.map((socket) => once(socket, 'close')));
  const turns: number[] = [];
  const progress = { isOver: false };
  void ended.then(() => (progress.isOver = true));
  for (let before = 0; !progress.isOver; before = replies) {
    await nextTurn();
    turns.push(replies - before);
  }
  return turns;
}

it('of connections without a request so far, a poll reads a few, and all get their replies', async () => {
  const turns = await repliesByTurn(await connected(300));
  expect(Math.max(...turns)).toBeLessThanOrEqual(MAX_READ);
  expect(turns.reduce((sum, replies) => sum + replies, 0)).toBe(300);
});

it.each([
  ['say nothing', ''],
  ['begin a request and do not go on', REQUEST],
])('a new connection is read although 100 %s', async (_, bytes) => {
  const silent = await connected(100, bytes);
  const turns = await repliesByTurn(await connected(1));
  expect(turns.reduce((sum, replies) => sum + replies, 0)).toBe(1);
  for (const socket of silent) socket.destroy();
});

it('a connection that has had a request is never set aside', async () => {
  const accepted: Socket[] = [];
  const onConnection = (message: unknown): void => {
    accepted.push((message as { socket: Socket }).socket);
  };
  subscribe('net.server.socket', onConnection);
  const known = await connected(1, `${REQUEST}\r\n`);
  const silent = await connected(100);
  unsubscribe('net.server.socket', onConnection);
  for (let turn = 0; turn < 100; turn += 1) {
    await nextTurn();
    const [first, ...others] = accepted.map((socket) => socket.isPaused());
    expect(first).toBe(false);
    expect(others).toContain(true);
  }
  for (const socket of [...known, ...silent]) socket.destroy();
});
