import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Client, Pool, type Dispatcher } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { HttpServer } from '../../src/graphql/httpServer.ts';
import { inForm } from '../forms.ts';
import { Program } from '../program.ts';
import { answerNever, WiredOperator } from '../wiredOperator.ts';
import { ServerProcess } from './serverProcess.ts';

const IN_FLIGHT = 200;
const GRACE_MS = 1500;

interface Answered {
  readonly status: number;
  readonly connection: unknown;
  readonly swapped: unknown;
}

test.each([1, 2, 3].slice(0, inForm({ short: 1, long: 3 })))(
  'SIGTERM under load: /readyz says no, all are served through the grace, none is dropped (run %i)',
  async () => {
    // Lookups of these numbers are answered when the test says so.
    const held: (() => void)[] = [];
    const release = (count: number): void => {
      for (const answer of held.splice(0, count)) answer();
    };
    await using operator = await WiredOperator.start({
      lookUp: (received, response) => {
        const answer = (): void => answerNever(received, response);
        if (received.body.includes('"+4477009005')) answer();
        else held.push(answer);
      },
    });
    await using server = await ServerProcess.start(operator.url, {
      DRAIN_GRACE_MS: String(GRACE_MS),
      OPERATOR_TIMEOUT_MS: '60000',
      REQUEST_TIMEOUT_MS: '60000',
    });
    const pool = new Pool(server.url, { connections: IN_FLIGHT });
    const keptAlive = new Client(server.url);
    expect(await ask(keptAlive, '+447700900500')).toMatchObject({ connection: 'keep-alive' });

    const inFlight = Array.from({ length: IN_FLIGHT }, (_, index) =>
      ask(pool, `+447700900${String(index).padStart(3, '0')}`),
    );
    await expect.poll(() => held.length, { timeout: 15_000 }).toBe(IN_FLIGHT);
    expect(await statusOf(server.url, '/readyz')).toBe(200);

    const terminatedAtMs = performance.now();
    server.terminate();
    await expect.poll(() => statusOf(server.url, '/readyz')).toBe(503);
    expect(await statusOf(server.url, '/livez')).toBe(200);
    const served = { status: 200, connection: 'close', swapped: false };
    expect(await ask(keptAlive, '+447700900501')).toEqual(served);
    do {
      expect(await askOnce(server.url, '+447700900502')).toEqual(served);
    } while (performance.now() < terminatedAtMs + GRACE_MS / 2);

    release(IN_FLIGHT / 2);
    await expect.poll(() => isRefused(server.url), { timeout: 15_000 }).toBe(true);
    release(IN_FLIGHT / 2);

    const answers = await Promise.all(inFlight);
    expect(answers).toEqual(Array.from({ length: IN_FLIGHT }, () => served));
    expect(await server.exit).toEqual({ code: 0, signal: null });
    await Promise.all([pool.close(), keptAlive.close()]);
  },
  60_000,
);

test('a client that never ends its request holds the drain up no longer than its limit', async () => {
  const http = new HttpServer({
    host: '127.0.0.1',
    port: 0,
    drainLimitMs: 50,
    frontPage: { status: 200, headers: {}, body: '' },
    waitingFor: () => [],
    replyTimeoutMs: 1000,
    graphql: () => Promise.race([]),
    onDefect: () => undefined,
  });
  const { port } = new URL(await http.listen());
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  const cutOff = once(socket, 'close');
  socket.write('GET /graphql HTTP/1.1\r\nhost: test\r\n\r\n');
  await once(socket, 'connect');
  await http.close();
  await cutOff;
  expect(socket.destroyed).toBe(true);
});

test('SIGTERM while TLS handshakes with the operator hang: ends with 0', async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  try {
    await using server = await ServerProcess.start(`https://127.0.0.1:${port}`, {
      DRAIN_GRACE_MS: '0',
      OPERATOR_TIMEOUT_MS: '60000',
      REQUEST_TIMEOUT_MS: '500',
    });
    const client = new Client(server.url);
    await ask(client, '+447700900500');
    await client.close();
    expect(sockets.size).toBeGreaterThan(0);
    server.terminate();
    expect(await server.exit).toMatchObject({ code: 0 });
    expect(server.logged('the drain did not end in time')).toEqual([]);
  } finally {
    for (const socket of sockets) socket.destroy();
    silent.close();
  }
});

/** Frames as on a real network, and sockets that hold little of a reply. */
const NETWORK = `
  ip link set lo mtu 1500 up
  echo 4096 16384 16384 > /proc/sys/net/ipv4/tcp_rmem
  echo 4096 16384 16384 > /proc/sys/net/ipv4/tcp_wmem
  exec "$@"`;

test.each([
  ['slowly', { isWhole: true, exit: { code: 0, signal: null }, cutOff: 0 }],
  ['no further', { isWhole: false, exit: { code: 0, signal: null }, cutOff: 1 }],
])('a reply whose client reads %s when SIGTERM comes', async (how, expected) => {
  // In a network namespace of its own; users other than root need a user namespace for that.
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const words = [...asRoot, '--net', 'sh', '-ec', NETWORK, 'sh'];
  const program = [process.execPath, 'test/endToEnd/slowReader.ts', how];
  const reader = new Program('unshare', [...words, ...program], {}, { hasOwnGroup: true });
  onTestFinished(() => reader[Symbol.asyncDispose]());
  const { code } = await reader.ended;
  expect({ code, err: reader.err }).toEqual({ code: 0, err: '' });
  expect(JSON.parse(reader.out)).toEqual(expected);
});

async function ask(client: Dispatcher, number: string): Promise<Answered> {
  const query = '{ phoneNumber(e164: "NUMBER") { simSwappedWithin } }'.replace('NUMBER', number);
  const { statusCode, headers, body } = await client.request({
    path: '/graphql',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const reply = (await body.json()) as {
    data?: { phoneNumber?: { simSwappedWithin?: boolean | null } | null };
  };
  return {
    status: statusCode,
    connection: headers['connection'],
    swapped: reply.data?.phoneNumber?.simSwappedWithin,
  };
}

async function askOnce(url: string, number: string): Promise<Answered> {
  const client = new Client(url);
  try {
    return await ask(client, number);
  } finally {
    await client.close();
  }
}

async function statusOf(url: string, path: string): Promise<number> {
  const client = new Client(url);
  try {
    const { statusCode, body } = await client.request({ path, method: 'GET' });
    await body.dump();
    return statusCode;
  } finally {
    await client.close();
  }
}

async function isRefused(url: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
  const refused = await promise;
  socket.destroy();
  return refused;
}
