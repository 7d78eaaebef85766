import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { BodyPace } from '../../src/graphql/bodyPace.ts';
import { HttpServer } from '../../src/graphql/httpServer.ts';

type ServerSettings = ConstructorParameters<typeof HttpServer>[0];

/** More than the buffers of two sockets take. */
const PAGE = Buffer.alloc(40 * 1024 * 1024, 'a');

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Sends a request, and reads nothing. */
function askAndLeave(url: string): void {
  const { port, host } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined).pause();
  socket.write(`GET /graphql HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
}

/** A server of pages, each by this function. */
function serve(graphql: ServerSettings['graphql'], limits: Partial<ServerSettings> = {}) {
  return new HttpServer({
    pace: new BodyPace(),
    frontPage: { status: 200, headers: {}, body: '' },
    waitingFor: () => [],
    host: '127.0.0.1',
    port: 0,
    replyTimeoutMs: 600_000,
    drainLimitMs: 0,
    graphql,
    onConnection: () => undefined,
    onDefect: () => undefined,
    ...limits,
  });
}

const page = () => Promise.resolve({ status: 200, headers: {}, body: PAGE });

describe('a client that reads nothing', () => {
  it('is cut off when its time is over', async () => {
    const { promise, resolve } = Promise.withResolvers<ServerResponse>();
    const http = serve(
      (_request, response) => {
        resolve(response);
        return page();
      },
      { replyTimeoutMs: 100, drainLimitMs: 60_000 },
    );
    askAndLeave(await http.listen());
    const response = await promise;
    await once(response, 'close');
    expect(response.writableFinished).toBe(false);
    await http.close();
  });

  it('is cut off at once when others need the room', async () => {
    const responses: ServerResponse[] = [];
    const http = serve((_request, response) => {
      responses.push(response);
      return page();
    });
    const url = await http.listen();
    for (let client = 0; client < 12; client += 1) {
      askAndLeave(url);
      await expect.poll(() => responses.length).toBe(client + 1);
    }
    // 128 MiB hold three of them.
    const cut = responses.map((response) => response.destroyed);
    expect(cut).toEqual(Array.from({ length: 12 }, (_, index) => index < 9));
    await http.close();
  });

  it('is cut off at once when its replies wait behind one that is not complete', async () => {
    let replies = 0;
    const http = serve(({ url }) => {
      if (url === '/graphql?slow') return Promise.withResolvers<never>().promise;
      replies += 1;
      return page();
    });
    const socket = connect(Number(new URL(await http.listen()).port), '127.0.0.1');
    sockets.push(socket);
    const closed = once(socket.on('error', () => undefined).resume(), 'close');
    const asked = ['slow', '1', '2', '3', '4'].map(
      (search) => `GET /graphql?${search} HTTP/1.1\r\nhost: a\r\n\r\n`,
    );
    socket.write(asked.join(''));
    await closed;
    expect(replies).toBe(4);
    await http.close();
  });
});

it('of refused clients that never stop sending 256 are read on', async () => {
  const responses: ServerResponse[] = [];
  const { promise: all, resolve } = Promise.withResolvers<void>();
  const http = serve((_request, response) => {
    if (responses.push(response) === 300) resolve();
    return Promise.resolve({ status: 503, headers: { connection: 'close' }, body: 'no' });
  });
  const { port, host } = new URL(await http.listen());
  for (let client = 0; client < 300; client += 1) {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    socket.write(`POST /graphql HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 100\r\n\r\nx`);
  }
  await all;
  await nextTurn();
  const cut = responses.map(({ req }) => req.socket.destroyed);
  expect(cut).toEqual(Array.from({ length: 300 }, (_, index) => index < 44));
  await http.close();
});

it('a request that is never answered holds up close() until the drain limit, and counts as cut off', async () => {
  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  const graphql = (): Promise<never> => {
    resolve();
    return Promise.withResolvers<never>().promise;
  };
  const http = serve(graphql, { drainLimitMs: 50 });
  askAndLeave(await http.listen());
  await arrived;
  expect(await http.close()).toBe(1);
});
