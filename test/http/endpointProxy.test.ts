import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import type { ConnectionSettings } from '../../src/http/connections/connectionSettings.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { RecordedLog } from '../recordedLog.ts';
import { Authority } from '../tls/authority.ts';
import { answering, ConnectProxy, tunnelFor, type ProxyManner } from './connectProxy.ts';
import { answerByStream, Http2Server } from './http2Server.ts';
import { answerWithout, HttpsServer } from './httpsServer.ts';
import { TestEndpoint } from './testEndpoint.ts';

const SERVERS = new Authority('Servers of the operator');
const SERVER = SERVERS.issue();
const PROXIES = new Authority('Proxies of the company');
const CREDENTIALS = 'sim-swap:kept between us: two';

function text(pem: string): { readonly kind: 'text'; readonly text: string } {
  return { kind: 'text', text: pem };
}

/** How an operator of these tests is connected to, through a proxy. */
function through(url: string): ConnectionSettings {
  return {
    tls: { ca: text(SERVERS.pem) },
    proxy: {
      url,
      credentials: text(CREDENTIALS),
      ...(url.startsWith('https:') ? { ca: text(PROXIES.pem) } : {}),
    },
  };
}

function isReply(exchange: Exchange): boolean {
  return exchange.kind === 'reply';
}

function burst(client: TestEndpoint, size: number): Promise<Exchange[]> {
  return Promise.all(Array.from({ length: size }, () => client.post()));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

describe.each(['http', 'https'] as const)('through a proxy over %s', (scheme) => {
  const options = {
    manner: tunnelFor(CREDENTIALS),
    ...(scheme === 'https' ? { certificate: PROXIES.issue() } : {}),
  };

  it('an operator is asked over HTTP/2, and does not see what the proxy is shown', async () => {
    await using proxy = await ConnectProxy.start(options);
    await using server = await Http2Server.start(SERVER, (received) =>
      answerByStream(received, {}),
    );
    await using client = new TestEndpoint(server.url, { connection: through(proxy.url) });
    expect((await burst(client, 100)).every(isReply)).toBe(true);
    expect(proxy.requests.map(({ url }) => url)).toEqual([new URL(server.url).host]);
    expect(Object.keys(server.received[0]?.headers ?? {})).not.toContain('proxy-authorization');
  });

  it('an operator without echo is asked on fresh connections, which are ready before they are needed', async () => {
    await using proxy = await ConnectProxy.start(options);
    const headers: unknown[] = [];
    await using server = await HttpsServer.start(SERVER, (request, response) => {
      headers.push(...Object.keys(request.headers));
      answerWithout(request, response);
    });
    await using client = new TestEndpoint(server.url, { connection: through(proxy.url) });
    await burst(client, 10);
    await pause(150);
    await burst(client, 10);
    await vi.waitFor(() => expect(server.unused).toHaveLength(10), { timeout: 5000 });
    const before = proxy.requests.length;
    expect((await burst(client, 10)).every(isReply)).toBe(true);
    // Their tunnels were there.
    expect(server.connections.slice(0, before).every(({ requests }) => requests === 1)).toBe(true);
    expect(server.connections.every(({ requests }) => requests <= 1)).toBe(true);
    expect(headers).not.toContain('proxy-authorization');
    // HTTP/2 was offered on the first, and a few are made at a time before there is a session.
    expect(server.connections.slice(10).every(({ isResumed }) => isResumed)).toBe(true);
  });

  it('an operator that echoes is asked on connections that are kept', async () => {
    await using proxy = await ConnectProxy.start(options);
    await using server = await HttpsServer.start(SERVER, (request, response) => {
      response.setHeader('x-correlator', String(request.headers['x-correlator']));
      response.end('{}');
    });
    await using client = new TestEndpoint(server.url, { connection: through(proxy.url) });
    for (let exchange = 0; exchange < 5; exchange += 1) await client.post();
    expect(server.connections.some(({ requests }) => requests > 1)).toBe(true);
  });

  it.each(['http/1.1', 'h2'])(
    'a tunnel that is reset costs what is under way, over %s',
    async (protocol) => {
      await using proxy = await ConnectProxy.start(options);
      const held: (() => void)[] = [];
      await using server =
        protocol === 'h2'
          ? await Http2Server.start(SERVER, (received) => {
              held.push(() => answerByStream(received, {}));
            })
          : await HttpsServer.start(SERVER, (request, response) => {
              held.push(() => answerWithout(request, response));
            });
      await using client = new TestEndpoint(server.url, { connection: through(proxy.url) });
      const exchanges = burst(client, 3);
      await vi.waitFor(() => expect(held).toHaveLength(3));
      proxy.resetConnections();
      for (const exchange of await exchanges) {
        expect(exchange).toMatchObject({ fault: { cause: 'connection', sent: true } });
      }
      const next = client.post();
      await vi.waitFor(() => expect(held).toHaveLength(4));
      held.at(-1)?.();
      expect(await next).toMatchObject({ kind: 'reply' });
      // Idle ones, and those that are kept ready.
      proxy.resetConnections();
      await vi.waitFor(async () => {
        const last = client.post({}, 200);
        await pause(50);
        held.at(-1)?.();
        expect(await last).toMatchObject({ kind: 'reply' });
      });
    },
  );

  it('connections end where their endpoint is closed', async () => {
    await using proxy = await ConnectProxy.start(options);
    await using server = await HttpsServer.start(SERVER, answerWithout);
    const client = new TestEndpoint(server.url, { connection: through(proxy.url) });
    await burst(client, 5);
    await client[Symbol.asyncDispose]();
    await vi.waitFor(() => expect(proxy.open).toBe(0), { timeout: 5000 });
  });
});

const PAGE = '<html><body>Sign in to the guest network</body></html>';

describe('a proxy that makes no tunnel', () => {
  it.each<[string, ProxyManner, string, string]>([
    [
      'refuses',
      answering(`HTTP/1.1 403 Forbidden\r\ncontent-type: text/html\r\n\r\n${PAGE}`),
      'proxy-tunnel',
      'PROXY_STATUS_403',
    ],
    ['wants other credentials', tunnelFor('another:user'), 'proxy-tunnel', 'PROXY_STATUS_407'],
    [
      'cannot reach the operator',
      answering('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n'),
      'proxy-tunnel',
      'PROXY_STATUS_502',
    ],
    [
      'sends elsewhere',
      answering('HTTP/1.1 302 Found\r\nlocation: https://127.0.0.1/\r\ncontent-length: 0\r\n\r\n'),
      'proxy-tunnel',
      'PROXY_STATUS_302',
    ],
    [
      'answers a page in place of it',
      answering(`HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n${PAGE}`),
      'proxy-tunnel',
      'PROXY_SENT_A_BODY',
    ],
    [
      'answers a page after it',
      (_, socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        setTimeout(() => socket.resume().end(PAGE), 50);
      },
      'tls',
      'ERR_SSL_',
    ],
    ['answers what is not HTTP', answering(`${PAGE}\r\n\r\n`), 'proxy-tunnel', 'PROXY_NOT_HTTP'],
    ['closes', answering(''), 'proxy-tunnel', 'PROXY_NO_REPLY'],
    ['closes the tunnel', answering('HTTP/1.1 200 OK\r\n\r\n'), 'tls', 'ECONNRESET'],
  ])('and %s: the log says so', async (_, manner, stage, code) => {
    await using proxy = await ConnectProxy.start({ manner });
    await using server = await HttpsServer.start(SERVER, answerWithout);
    await using client = new TestEndpoint(server.url, { connection: through(proxy.url) });
    for (const exchange of await burst(client, 3)) {
      expect(exchange).toMatchObject({
        fault: {
          cause: 'connection',
          sent: false,
          stage,
          detail: expect.stringContaining(code) as string,
        },
      });
    }
    expect(server.connections).toHaveLength(0);
    await vi.waitFor(() => expect(proxy.open).toBe(0), { timeout: 5000 });
  });

  it('and has a certificate that is not trusted is not shown credentials', async () => {
    await using proxy = await ConnectProxy.start({ certificate: SERVERS.issue() });
    await using client = new TestEndpoint('https://127.0.0.1:9/', {
      connection: through(proxy.url),
    });
    expect(await client.post()).toMatchObject({
      fault: { sent: false, stage: 'proxy-tls', detail: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' },
    });
    expect(proxy.requests).toHaveLength(0);
  });

  it.each([
    ['does not listen', 'http://127.0.0.1:9', 'proxy-connection', 'ECONNREFUSED'],
    ['has a name that is not known', 'http://proxy.invalid:3128', 'proxy-name', 'ENOTFOUND'],
  ])('and %s: the log says so', async (_, url, stage, detail) => {
    await using client = new TestEndpoint('https://127.0.0.1:9/', { connection: through(url) });
    expect(await client.post()).toMatchObject({ fault: { sent: false, stage, detail } });
  });
});

/** A listener that takes connections and says nothing. */
async function startSilent(): Promise<AsyncDisposable & { readonly port: number; open(): number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket
      .resume()
      .on('error', () => undefined)
      .on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    open: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const TIMEOUT_MS = 200;

describe('a connection that hangs', () => {
  it.each([
    ['before the proxy answers', 'http', 'proxy-tunnel'],
    ["in the proxy's handshake", 'https', 'proxy-tls'],
  ])('%s ends in its time, and the log says where', async (_, scheme, stage) => {
    await using silent = await startSilent();
    const log = new RecordedLog();
    await using client = new TestEndpoint('https://127.0.0.1:9/', {
      connection: through(`${scheme}://127.0.0.1:${silent.port}`),
      timeoutMs: TIMEOUT_MS,
      log,
    });
    expect(await client.post()).toMatchObject({ fault: { cause: 'timeout', sent: false } });
    await vi.waitFor(() => {
      expect(silent.open()).toBe(0);
      expect(log.troubles).toMatchObject([{ endpoint: 'test endpoint', stage }]);
    });
  });

  it("in the operator's handshake, through a proxy, ends in its time, and the log says where", async () => {
    await using silent = await startSilent();
    await using proxy = await ConnectProxy.start();
    const log = new RecordedLog();
    await using client = new TestEndpoint(`https://127.0.0.1:${silent.port}/`, {
      connection: through(proxy.url),
      timeoutMs: TIMEOUT_MS,
      log,
    });
    expect(await client.post()).toMatchObject({ fault: { cause: 'timeout', sent: false } });
    await vi.waitFor(() => {
      expect(silent.open()).toBe(0);
      expect(proxy.open).toBe(0);
      expect(log.troubles).toMatchObject([{ stage: 'tls' }]);
    });
  });

  it('keeps no endpoint from being closed', async () => {
    await using silent = await startSilent();
    const client = new TestEndpoint('https://127.0.0.1:9/', {
      connection: through(`http://127.0.0.1:${silent.port}`),
    });
    const exchange = client.post();
    await vi.waitFor(() => expect(silent.open()).toBe(1));
    await client[Symbol.asyncDispose]();
    expect(await exchange).toMatchObject({ fault: { cause: 'connection', sent: false } });
    await vi.waitFor(() => expect(silent.open()).toBe(0));
  });
});
