import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { ServerResponse } from 'node:http';
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

describe('of refused clients whose bodies do not end', () => {
  /** How many of 300 are cut off once that many are, or the polite client has its reply. */
  async function cutOf300(sent: string, cut: number): Promise<number> {
    const http = serve(() =>
      Promise.resolve({ status: 413, headers: { connection: 'close' }, body: 'too large' }),
    );
    const { port, host } = new URL(await http.listen());
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    let closed = 0;
    const connected = () => {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      sockets.push(socket);
      return socket;
    };
    const polite = connected();
    polite.write(`POST /graphql HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 200000\r\n\r\nx`);
    for (let client = 0; client < 300; client += 1) {
      const socket = connected().on('close', () => ++closed === cut && resolve());
      // What it does not send, it does not wait for.
      socket.write(`POST /graphql HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 1000000000\r\n\r\n`);
      socket.write(sent);
      await once(socket.resume(), 'data');
    }
    if (cut > 0) await enough;
    else {
      polite.write('x'.repeat(199_999));
      const [reply] = (await once(polite, 'data')) as [Buffer];
      expect(reply.toString()).toContain('too large');
      await once(polite, 'end');
    }
    const cutOff = closed;
    await http.close();
    return cutOff;
  }

  it('256 are read on', async () => {
    expect(await cutOf300('x'.repeat(200_000), 44)).toBe(44);
  });

  it('those that send little push nobody out', async () => {
    expect(await cutOf300('x', 0)).toBe(0);
  });
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
