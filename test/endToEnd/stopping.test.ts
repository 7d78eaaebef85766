import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { Client, Pool, type Dispatcher } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import type { AuditEntry } from '../../src/caller/audit/entry.ts';
import { TestIssuer } from '../caller/testIssuer.ts';
import { inForm } from '../support/forms.ts';
import { command } from '../support/redisCommands.ts';
import { RedisProxy } from '../support/redisProxy.ts';
import { freshStateKey, NO_REDIS, startRedis } from '../support/redisServer.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { answerNever, WiredOperator } from '../support/wiredOperator.ts';
import { ServerProcess } from './serverProcess.ts';

const IN_FLIGHT = 200;
const GRACE_MS = 1500;
const NOWHERE = 'http://127.0.0.1:1';

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

test.skipIf(NO_REDIS !== undefined)(
  `SIGTERM while requests end by their deadline: their audit lines are written, and Redis has their places back ${NO_REDIS ?? ''}`,
  async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.kill());
    const proxy = await RedisProxy.before(redis.port);
    onTestFinished(() => proxy.close());
    const issuer = await TestIssuer.start();
    onTestFinished(() => issuer.close());
    // No lookup leaves before it has its token.
    await using operator = await WiredOperator.start({ token: () => undefined });
    const file = join(temporaryFolder(), 'audit.jsonl');
    await using server = await ServerProcess.start(operator.url, {
      ...issuer.settings,
      REDIS_URL: proxy.url,
      STATE_KEY: freshStateKey(),
      AUDIT_LOG: file,
      AUDIT_KEY: 'a-key-of-at-least-thirty-two-characters',
      DRAIN_GRACE_MS: '0',
      OPERATOR_TIMEOUT_MS: '60000',
      REQUEST_TIMEOUT_MS: '2000',
    });
    const token = await issuer.token({ sub: 'risk', scope: 'sim-swap:read' });
    const query = 'query ($e164s: [ID!]!) { phoneNumbers(e164s: $e164s) { simSwappedWithin } }';
    const replies = [0, 1].map((list) => {
      const e164s = Array.from(
        { length: 100 },
        (_, index) => `+447700900${String(list * 100 + index).padStart(3, '0')}`,
      );
      return server.ask(query, { e164s }, { authorization: `Bearer ${token}` });
    });
    await expect.poll(() => operator.tokens.length, { timeout: 15_000 }).toBe(200);
    // From here on its places come back slowly: a hundred in a script, one after the other.
    proxy.delayMs = 250;
    server.terminate();
    expect(new Set((await Promise.all(replies)).flatMap(({ codes }) => codes))).toEqual(
      new Set(['OPERATOR_TIMEOUT']),
    );
    expect(await server.exit).toEqual({ code: 0, signal: null });

    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const kinds = lines.map((line) => (JSON.parse(line) as AuditEntry).audit);
    const count = (kind: string): number => kinds.filter((one) => one === kind).length;
    expect(count('before')).toBeGreaterThan(0);
    expect(count('after')).toBe(count('before'));
    const windows = await command(redis.port, ['KEYS', 'sim-swap:*counts:caller:*']);
    const [window = ''] = (windows as string[]).toSorted((a, b) => a.length - b.length);
    expect(await command(redis.port, ['HGET', window, 'opened'])).not.toBeNull();
    expect(await command(redis.port, ['HGET', window, 'numbers'])).toBeNull();
  },
  30_000,
);

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
    expect(server.logged('The drain did not end in time: the process is killed.')).toEqual([]);
  } finally {
    for (const socket of sockets) socket.destroy();
    silent.close();
  }
});

test.each([
  ['on', []],
  ['no further', [{ requests: 1 }]],
])('SIGTERM while a client reads a reply %s: cut off %j', async (how, cutOff) => {
  const settings = { DRAIN_GRACE_MS: '0', REQUEST_TIMEOUT_MS: '1000' };
  await using server = await ServerProcess.start(NOWHERE, settings);
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  // The explorer's page, which is longer than the buffers of two sockets.
  socket.write('GET /graphql HTTP/1.1\r\nhost: localhost\r\naccept: text/html\r\n\r\n');
  const [head] = (await once(socket.setEncoding('latin1'), 'data')) as [string];
  socket.pause();
  server.terminate();
  await expect.poll(() => isRefused(server.url)).toBe(true);
  let received = head.length;
  socket.on('error', () => undefined).on('data', (more: string) => (received += more.length));
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  if (how === 'on') socket.resume();

  expect(await server.exit).toEqual({ code: 0, signal: null });
  socket.resume();
  await closed;
  const length = head.indexOf('\r\n\r\n') + 4 + Number(/^content-length: (\d+)/im.exec(head)?.[1]);
  expect(received === length).toBe(how === 'on');
  expect(server.logged('The drain cut off requests that did not end in time.')).toMatchObject(
    cutOff,
  );
});

test('SIGTERM: connections without a byte are closed at once, and a request whose head has begun is served', async () => {
  const settings = { DRAIN_GRACE_MS: '0', REQUEST_TIMEOUT_MS: '60000' };
  await using server = await ServerProcess.start(NOWHERE, settings);
  const opened = Array.from({ length: 20 }, () => openSocket(server.url));
  const silent = await Promise.all(opened);
  const late = await openSocket(server.url);
  late.write('GET /livez HTTP/1.1\r\n');
  // Accepted in their order, so that all of those are.
  expect(await statusOf(server.url, '/livez')).toBe(200);
  server.terminate();
  await expect.poll(() => isRefused(server.url)).toBe(true);
  late.write('host: localhost\r\n\r\n');
  const [reply] = (await once(late.setEncoding('latin1'), 'data')) as [string];
  expect(reply).toMatch(/^HTTP\/1.1 200 [^]*connection: close/i);
  expect(await server.exit).toEqual({ code: 0, signal: null });
  const [drained] = server.logged('Drained.');
  expect(drained?.['seconds']).toBeLessThan(5);
  expect(silent.map(({ destroyed }) => destroyed)).not.toContain(false);
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

/** Is destroyed once the other side has closed it. */
async function openSocket(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket.on('error', () => undefined).resume();
}

async function isRefused(url: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
  const refused = await promise;
  socket.destroy();
  return refused;
}
