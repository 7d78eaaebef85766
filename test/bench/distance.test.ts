import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { DistantServer } from '../../bench/network/distance.ts';

const ONE_WAY_MS = 20;
/** Node's timers are exact to a millisecond. */
const TIMER_MS = 1;

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

/** A server that answers what it reads, far away; and what it sees of its connections. */
async function distantEcho(serve: (socket: Socket) => void = (socket) => socket.pipe(socket)) {
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(async () => {
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  const distant = await DistantServer.open(port, () => ONE_WAY_MS);
  opened.push(() => distant.close());
  return { server, port: distant.port };
}

async function connected(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  await once(socket, 'connect');
  opened.push(() => Promise.resolve(socket.destroy()));
  return socket;
}

async function read(socket: Socket, bytes: number): Promise<string> {
  let text = '';
  while (text.length < bytes) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    text += chunk.toString();
  }
  return text;
}

// Only how early things may happen is tested: how late, a loaded machine decides.

it('a new connection costs a round trip, and so does each exchange', async () => {
  const { port } = await distantEcho();
  const startedMs = performance.now();
  const socket = await connected(port);

  socket.write('one');
  await read(socket, 3);
  const firstMs = performance.now() - startedMs;
  const againMs = performance.now();
  socket.write('two');
  await read(socket, 3);
  const secondMs = performance.now() - againMs;

  expect(firstMs).toBeGreaterThanOrEqual(4 * ONE_WAY_MS - TIMER_MS);
  expect(secondMs).toBeGreaterThanOrEqual(2 * ONE_WAY_MS - TIMER_MS);
});

it('what is sent later on a new connection does not wait for its set-up again', async () => {
  const { port } = await distantEcho();
  const socket = await connected(port);
  socket.write('a');
  await read(socket, 1);

  const sentMs = performance.now();
  const segments = Array.from({ length: 50 }, (_, index) => String.fromCharCode(65 + (index % 26)));
  for (const segment of segments) socket.write(segment);

  expect(await read(socket, segments.length)).toBe(segments.join(''));
  expect(performance.now() - sentMs).toBeGreaterThanOrEqual(2 * ONE_WAY_MS - TIMER_MS);
});

it('passes on an end, and what comes after it in the other direction', async () => {
  const { port } = await distantEcho((socket) => {
    socket.resume().once('end', () => socket.end('goodbye'));
  });
  const socket = await connected(port);

  socket.end('hello');

  expect(await read(socket, 7)).toBe('goodbye');
  await once(socket, 'end');
});

it('passes on a reset, from either side', async () => {
  const { port, server } = await distantEcho((socket) => {
    socket.once('data', () => socket.resetAndDestroy());
  });
  const first = await connected(port);
  const reset = once(first, 'error') as Promise<[NodeJS.ErrnoException]>;
  first.write('reset me');
  expect((await reset)[0].code).toBe('ECONNRESET');

  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const second = await connected(port);
  const [atServer] = await accepted;
  const resetAtServer = once(atServer, 'error') as Promise<[NodeJS.ErrnoException]>;
  second.resetAndDestroy();

  expect((await resetAtServer)[0].code).toBe('ECONNRESET');
});

it('a client that leaves before its connection is made harms no other', async () => {
  const { port } = await distantEcho();
  const early = await connected(port);
  early.resetAndDestroy();

  const socket = await connected(port);
  socket.write('still here');

  expect(await read(socket, 10)).toBe('still here');
});
