import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { BodyPace, READ_BYTES } from '../../src/graphql/bodyPace.ts';
import { HttpServer } from '../../src/graphql/httpServer.ts';

type ServerSettings = ConstructorParameters<typeof HttpServer>[0];

/** More than the buffers of two sockets take. */
const PAGE = Buffer.alloc(40 * 1024 * 1024, 'a');

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

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
    unreadBytes: 128 * 1024 * 1024,
    idleConnections: 1000,
    drainLimitMs: 0,
    graphql,
    acceptance: { accepted: () => undefined },
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

  it('is not cut off for the size of its reply alone', async () => {
    const responses: ServerResponse[] = [];
    const http = serve(
      (_request, response) => {
        responses.push(response);
        return page();
      },
      { unreadBytes: PAGE.length / 2 },
    );
    const url = await http.listen();
    for (const count of [1, 2]) {
      askAndLeave(url);
      await expect.poll(() => responses.length).toBe(count);
    }
    await expect.poll(() => responses.map(({ destroyed }) => destroyed)).toEqual([true, false]);
    await http.close();
  });
});

it.each([
  ['new ones', false],
  ['kept ones', true],
])('of many requests that come at once on %s few are read in one turn', async (_what, isKept) => {
  const CLIENTS = 40;
  let turn = 0;
  const turns: number[] = [];
  const http = serve(() => {
    turns.push(turn);
    return Promise.resolve({ status: 200, headers: {}, body: '{}' });
  });
  const { port } = new URL(await http.listen());
  const clients: Socket[] = [];
  for (let client = 0; client < CLIENTS; client += 1) {
    const socket = connect(Number(port), '127.0.0.1');
    sockets.push(socket);
    clients.push(socket);
    await once(socket, 'connect');
    if (isKept) {
      socket.write('GET /livez HTTP/1.1\r\nhost: a\r\n\r\n');
      await once(socket, 'data');
    }
  }
  let nowMs = 0;
  // Each takes longer than a turn parses: the second one ends that.
  vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 10));
  onTestFinished(() => void vi.restoreAllMocks());
  for (const socket of clients) socket.write('GET /graphql HTTP/1.1\r\nhost: a\r\n\r\n');
  for (; turns.length < CLIENTS; turn += 1) await nextTurn();
  const together = Math.max(...turns.map((one) => turns.filter((other) => other === one).length));
  expect(together).toBeLessThanOrEqual(2);
  await http.close();
});

it('of a body that waits one read is held, although its request ends the parsing of its turn', async () => {
  const CLIENTS = 10;
  const requests: IncomingMessage[] = [];
  const http = serve((request) => {
    requests.push(request);
    return Promise.withResolvers<never>().promise;
  });
  const { port } = new URL(await http.listen());
  const clients: Socket[] = [];
  for (let client = 0; client < CLIENTS; client += 1) {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    clients.push(socket);
    socket.write('GET /livez HTTP/1.1\r\nhost: a\r\n\r\n');
    await once(socket, 'data');
  }
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 10));
  onTestFinished(() => void vi.restoreAllMocks());
  for (const socket of clients) {
    socket.write('POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n');
    socket.write('x'.repeat(999_999));
  }
  while (requests.length < CLIENTS) await nextTurn();
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  const held = requests.map(({ readableLength }) => Math.ceil(readableLength / READ_BYTES));
  expect(Math.max(...held)).toBe(1);
  await http.close();
});

it('what comes on a kept connection is read before hundreds of new ones that wait', async () => {
  const NEW = 200;
  let turn = 0;
  const turns: Record<string, number[]> = { new: [], kept: [] };
  const http = serve(({ url = '' }) => {
    turns[url.replace('/graphql?', '')]?.push(turn);
    return Promise.resolve({ status: 200, headers: {}, body: '{}' });
  });
  const { port } = new URL(await http.listen());
  const connected = async (): Promise<Socket> => {
    const socket = connect(Number(port), '127.0.0.1');
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  const kept = await connected();
  kept.write('GET /livez HTTP/1.1\r\nhost: a\r\n\r\n');
  await once(kept, 'data');
  const clients: Socket[] = [];
  for (let client = 0; client < NEW; client += 1) clients.push(await connected());
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 1));
  const pause = vi.spyOn(Socket.prototype, 'pause');
  onTestFinished(() => void vi.restoreAllMocks());
  for (const socket of clients) socket.write('GET /graphql?new HTTP/1.1\r\nhost: a\r\n\r\n');
  // The crowd waits by then.
  while (turns['new']?.length === 0) await nextTurn();
  kept.write('GET /graphql?kept HTTP/1.1\r\nhost: a\r\n\r\n');
  for (; (turns['new']?.length ?? 0) < NEW; turn += 1) await nextTurn();
  const readBefore = turns['new']?.filter((one) => one <= (turns['kept']?.[0] ?? Infinity)) ?? [];
  expect(readBefore.length).toBeLessThan(NEW / 4);
  // Each is made to wait once: in every turn it would take longer than what is read.
  expect(pause.mock.calls.length).toBeLessThan(2 * NEW);
  await http.close();
});

describe('a connection', () => {
  const GET = 'GET /graphql HTTP/1.1\r\nhost: a\r\n\r\n';
  const BEHIND: readonly (readonly [what: string, text: string, isAnswered: boolean])[] = [
    ['others', GET.repeat(8), true],
    ['thousands of others', GET.repeat(2000), true],
    ['others without a host', 'GET / HTTP/1.1\r\n\r\n'.repeat(8), true],
    ['others with bodies', GET.replace('\r\n\r\n', '\r\ncontent-length: 9\r\n\r\nxxx'), true],
    [
      'others with an upgrade',
      GET.replace('host', 'connection: upgrade\r\nupgrade: h2c\r\nhost'),
      true,
    ],
    ['more than 128 KiB', GET.repeat(4000), false],
  ];
  it.each(BEHIND)(
    'carries one request at a time, and ends with its reply where there came behind it %s',
    async (_what, behind, isAnswered) => {
      const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
      const { promise: reply, resolve: answer } = Promise.withResolvers<void>();
      const seen: (string | undefined)[] = [];
      const http = serve(async ({ url }) => {
        seen.push(url);
        arrive();
        await reply;
        return { status: 200, headers: {}, body: Buffer.from('{}') };
      });
      const socket = connect(Number(new URL(await http.listen()).port), '127.0.0.1');
      sockets.push(socket.on('error', () => undefined));
      let text = '';
      socket.on('data', (data: Buffer) => (text += data.toString()));
      const ended = once(socket, 'close');
      socket.write(GET.replace(' HTTP', '?first HTTP') + behind);
      await arrived;
      if (isAnswered) answer();
      await ended;
      answer();
      expect(seen).toEqual(['/graphql?first']);
      expect(text.match(/^HTTP\/1.1 .*/gm) ?? []).toEqual(isAnswered ? ['HTTP/1.1 200 OK'] : []);
      expect(/^connection: close/im.test(text)).toBe(isAnswered);
      expect(await http.close()).toBe(0);
    },
  );

  it('ends with its reply where others came behind it once the reply had begun', async () => {
    const http = serve(page);
    const socket = connect(Number(new URL(await http.listen()).port), '127.0.0.1');
    sockets.push(socket.on('error', () => undefined));
    socket.write(GET);
    let bytes = ((await once(socket, 'data')) as [Buffer])[0].length;
    socket.on('data', ({ length }: Buffer) => (bytes += length)).pause();
    socket.write(GET);
    // The second one has arrived by then.
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    socket.resume();
    await once(socket, 'close');
    expect(Math.floor(bytes / PAGE.length)).toBe(1);
    await http.close();
  });

  it('on which others came behind is cut off at the drain limit', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const http = serve(() => (arrive(), Promise.withResolvers<never>().promise), {
      drainLimitMs: 50,
    });
    const socket = connect(Number(new URL(await http.listen()).port), '127.0.0.1');
    sockets.push(socket.on('error', () => undefined));
    socket.resume().write(GET + GET);
    await arrived;
    expect(await http.close()).toBe(1);
  });

  it.each([
    ['without a host', 'GET /livez HTTP/1.1\r\n\r\n', 400],
    ['of HTTP/1.0, without a host', 'GET /livez HTTP/1.0\r\n\r\n', 200],
    [
      'that expects what is not known',
      'GET /livez HTTP/1.1\r\nhost: a\r\nexpect: x\r\nconnection: close\r\n\r\n',
      200,
    ],
    [
      'that offers an upgrade',
      'GET /livez HTTP/1.1\r\nhost: a\r\nconnection: upgrade, close\r\nupgrade: h2c\r\n\r\n',
      200,
    ],
  ])('a request %s has its status', async (_what, request, status) => {
    const http = serve(page);
    const socket = connect(Number(new URL(await http.listen()).port), '127.0.0.1');
    sockets.push(socket.on('error', () => undefined));
    let text = '';
    socket.on('data', (data: Buffer) => (text += data.toString()));
    socket.write(request);
    await once(socket, 'close');
    expect(Number(text.slice(9, 12))).toBe(status);
    await http.close();
  });
});

it('a body that comes in chunks of a byte is read whole, and in few pieces', async () => {
  const text = Array.from({ length: 30_000 }, (_, index) => String(index % 10)).join('');
  const pieces: Buffer[] = [];
  const http = serve(async (request) => {
    for await (const piece of request) pieces.push(piece as Buffer);
    return { status: 200, headers: { connection: 'close' }, body: Buffer.from('{}') };
  });
  const socket = connect(Number(new URL(await http.listen()).port), '127.0.0.1');
  sockets.push(socket);
  socket.write('POST /graphql HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n');
  socket.write(`${text.replaceAll(/./g, '1\r\n$&\r\n')}0\r\n\r\n`);
  await once(socket.resume(), 'close');
  expect(Buffer.concat(pieces).toString()).toBe(text);
  expect(pieces.length).toBeLessThan(200);
  await http.close();
});

it('of a body in chunks of a byte that nothing takes, only the beginning is read', async () => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<Socket>();
  const http = serve((request) => {
    arrive(request.socket);
    return Promise.withResolvers<never>().promise;
  });
  const socket = connect(Number(new URL(await http.listen()).port), '127.0.0.1');
  sockets.push(socket.on('error', () => undefined));
  socket.write('POST /graphql HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n');
  socket.write('1\r\nx\r\n'.repeat(2_000_000));
  const reading = await arrived;
  for (let read = -1; read !== reading.bytesRead;) {
    read = reading.bytesRead;
    for (let turn = 0; turn < 200; turn += 1) await nextTurn();
  }
  expect(reading.bytesRead).toBeLessThan(1024 * 1024);
  await http.close();
});

it('of connections without a request, new ones and others, those that have waited longest are closed', async () => {
  const answers: (() => void)[] = [];
  const http = serve(
    () => {
      const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof page>>>();
      answers.push(() => resolve({ status: 200, headers: {}, body: Buffer.from('{}') }));
      return promise;
    },
    { idleConnections: 4 },
  );
  const url = await http.listen();
  const ask = 'GET /graphql HTTP/1.1\r\nhost: a\r\n\r\n';
  const open = async (text: string): Promise<Socket> => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    sockets.push(socket.on('error', () => undefined).resume());
    await once(socket, 'connect');
    if (text !== '') socket.write(text);
    return socket;
  };
  const answered = await open(ask);
  await expect.poll(() => answers.length).toBe(1);
  const silent = await open('');
  answers[0]?.();
  await once(answered, 'data');
  const begun = await open('GET /graphql HTTP/1.1\r\nhost: ');
  await open('');
  await once(silent, 'close');
  expect([answered, begun].map(({ closed }) => closed)).toEqual([false, false]);

  const waiting = [await open(ask), await open(ask)];
  await expect.poll(() => answers.length).toBe(3);
  for (const answer of answers) answer();
  await once(answered, 'close');
  expect(waiting.map(({ closed }) => closed)).toEqual([false, false]);
  await http.close();
});

describe('of refused clients whose bodies do not end', () => {
  const REFUSED = 300;

  it('256 are read on', async () => {
    // None is cut off because its time is over.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const http = refusing({ unreadBytes: 256 * 24 * 1024 });
    const url = await http.listen();
    const { promise: cutOff, resolve } = Promise.withResolvers<void>();
    let closed = 0;
    for (let client = 0; client < REFUSED; client += 1) {
      const socket = await beginBody(url, 'x'.repeat(200_000));
      socket.on('close', () => ++closed === REFUSED - 256 && resolve());
    }
    await cutOff;
    expect(sockets.filter(({ destroyed }) => destroyed)).toHaveLength(closed);
    vi.useRealTimers();
    await http.close();
  }, 20_000);

  it('those that send little push nobody out', async () => {
    const http = refusing();
    const url = await http.listen();
    const polite = await beginBody(url, 'x', 100_000);
    for (let client = 0; client < REFUSED; client += 1) await beginBody(url, 'x');
    polite.write('x'.repeat(99_999));
    // The connection ends with its reply only once all has been read.
    const ended = await Promise.race([once(polite, 'end'), once(polite, 'error')]);
    expect(ended).toEqual([]);
    await http.close();
  });
});

describe('of clients whose bodies are refused before they have come', () => {
  it('each waits for its turn, holds nothing until then, and reads its reply', async () => {
    const turns: (() => void)[] = [];
    const pace = new BodyPace();
    pace.turn = (_caller, begin) => void turns.push(begin);
    const responses: ServerResponse[] = [];
    const http = refusing({ pace }, (response) => responses.push(response));
    const url = await http.listen();
    const replies = Array.from({ length: 20 }, () => beginBody(url, 'x'.repeat(200_000), 200_000));
    await expect.poll(() => turns.length).toBe(20);
    await nextTurn();
    expect(responses.map(({ headersSent, req }) => headersSent || req.readableLength > 0)).toEqual(
      responses.map(() => false),
    );
    // Of the bytes that go on coming nothing is read.
    const read = responses.map(({ req }) => req.socket.bytesRead);
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(responses.map(({ req }) => req.socket.bytesRead)).toEqual(read);
    delete (pace as Partial<BodyPace>).turn;
    for (const resolve of turns) resolve();
    const clients = await Promise.all(replies);
    await Promise.all(clients.map((client) => once(client, 'close')));
    await http.close();
  });

  it('one that is closed meanwhile is not held by its place in the queue', async () => {
    const turns: (() => void)[] = [];
    const pace = new BodyPace();
    pace.turn = (_caller, begin) => void turns.push(begin);
    let request: WeakRef<object> | undefined;
    const http = refusing({ pace }, ({ req }) => (request = new WeakRef(req)));
    const socket = connect(Number(new URL(await http.listen()).port), '127.0.0.1');
    socket.write('POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n');
    await expect.poll(() => turns.length).toBe(1);
    socket.destroy();
    await expect.poll(() => (collectGarbage(), request?.deref() === undefined)).toBe(true);
    expect(turns).toHaveLength(1);
    await http.close();
  });
});

const REFUSED_REPLY = { status: 413, headers: { connection: 'close' }, body: 'too large' };

function refusing(
  limits: Partial<ServerSettings> = {},
  onRequest: (response: ServerResponse) => void = () => undefined,
) {
  return serve((_request, response) => {
    onRequest(response);
    return Promise.resolve(REFUSED_REPLY);
  }, limits);
}

/** Sends the beginning of a body, and resolves once its refusal has come. */
async function beginBody(url: string, beginning: string, length = 1e9): Promise<Socket> {
  const { port, host } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  socket.write(`POST /graphql HTTP/1.1\r\nhost: ${host}\r\ncontent-length: ${length}\r\n\r\n`);
  socket.write(beginning);
  await once(socket, 'data');
  return socket.resume();
}

describe('of a body that nobody takes', () => {
  const ENDLESS = 'host: a\r\ntransfer-encoding: chunked\r\n\r\n';
  it.each([
    ['a page that does not exist', `POST /x HTTP/1.1\r\n${ENDLESS}`],
    ['/livez', `GET /livez HTTP/1.1\r\n${ENDLESS}`],
    ['/readyz', 'GET /readyz HTTP/1.1\r\nhost: a\r\ncontent-length: 999999999\r\n\r\n'],
    ['a query in the address', `GET /graphql HTTP/1.1\r\n${ENDLESS}`],
  ])('what comes behind the reply is read at the pace of all bodies: %s', async (_what, head) => {
    const pace = new BodyPace();
    let reads = 0;
    pace.await = (body) => {
      reads += 1;
      body.pause();
    };
    const ok = { status: 200, headers: {}, body: '{}' };
    const http = serve(() => Promise.resolve(ok), { pace });
    const socket = connect(Number(new URL(await http.listen()).port), '127.0.0.1');
    sockets.push(socket.on('error', () => undefined));
    socket.write(`${head}1\r\na\r\n`);
    const [reply] = (await once(socket, 'data')) as [Buffer];
    expect(reply.toString()).toMatch(/^connection: close/im);
    socket.write('1\r\na\r\n'.repeat(1_000_000));
    await expect.poll(() => reads).toBe(1);
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(reads).toBe(1);
    expect(socket.writableLength).toBeGreaterThan(0);
    socket.destroy();
    await http.close();
  });

  it('that has come whole the connection is kept', async () => {
    const http = serve(() => Promise.resolve({ status: 200, headers: {}, body: '{}' }));
    const socket = connect(Number(new URL(await http.listen()).port), '127.0.0.1');
    sockets.push(socket);
    for (const head of ['content-length: 0\r\n\r\n', 'content-length: 1\r\n\r\na', '\r\n']) {
      socket.write(`GET /graphql HTTP/1.1\r\nhost: a\r\n${head}`);
      const [reply] = (await once(socket, 'data')) as [Buffer];
      expect(reply.toString()).toMatch(/^connection: keep-alive/im);
    }
    socket.destroy();
    await http.close();
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

describe('refused requests whose replies have come, and whose bodies have not', () => {
  it('are not cut off at the drain limit', async () => {
    const http = refusing({ drainLimitMs: 50 });
    const url = await http.listen();
    for (let body = 0; body < 3; body += 1) await beginBody(url, '{');
    expect(await http.close()).toBe(0);
  });

  it('have a second once nothing else is under way, and are not cut off as replies that nobody reads', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const http = refusing({ drainLimitMs: 60_000, replyTimeoutMs: 100 });
    const url = await http.listen();
    const clients = [await beginBody(url, '{'), await beginBody(url, '{')];
    const closing = http.close();
    await vi.advanceTimersByTimeAsync(999);
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(clients.map(({ closed }) => closed)).toEqual([false, false]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await closing).toBe(0);
  });

  it('are not cut off while another request is under way, although one of them has left', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { promise: reply, resolve: answer } = Promise.withResolvers<void>();
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const responses: ServerResponse[] = [];
    const http = serve(
      async ({ method }, response) => {
        responses.push(response);
        if (method === 'POST') return REFUSED_REPLY;
        arrive();
        await reply;
        return { status: 200, headers: {}, body: '{}' };
      },
      { drainLimitMs: 60_000 },
    );
    const url = await http.listen();
    askAndLeave(url);
    await arrived;
    const leaving = await beginBody(url, '{');
    const staying = await beginBody(url, '{');
    const closing = http.close();
    leaving.destroy();
    await expect.poll(() => responses[1]?.closed).toBe(true);
    await vi.advanceTimersByTimeAsync(2000);
    expect(responses[2]?.destroyed).toBe(false);
    expect(staying.closed).toBe(false);
    answer();
    await once(responses[0] as ServerResponse, 'close');
    await vi.advanceTimersByTimeAsync(1000);
    expect(await closing).toBe(0);
  });
});
