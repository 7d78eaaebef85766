import { createServer } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import type { ConnectionSettings } from '../../src/http/wireSettings.ts';
import { ClosingServer, listen } from '../listening.ts';
import { RecordedLog } from '../recordedLog.ts';
import { Authority } from '../tls/authority.ts';
import { answering, ConnectProxy, tunnelFor, type ProxyManner } from './connectProxy.ts';
import { answerByStream, Http2Server } from './http2Server.ts';
import { answerWithout, RecordingServer } from './recordingServer.ts';
import { isReply, TestEndpoint, text } from './testEndpoint.ts';

const SERVERS = new Authority('Servers of the operator');
const SERVER = SERVERS.issue();
const PROXIES = new Authority('Proxies of the company');
const CREDENTIALS = 'sim-swap:kept between us: two';

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
    expect((await client.burst(100)).every(isReply)).toBe(true);
    expect(proxy.requests.map(({ url }) => url)).toEqual([new URL(server.url).host]);
    expect(Object.keys(server.received[0]?.headers ?? {})).not.toContain('proxy-authorization');
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
          : await RecordingServer.start((received, response) => {
              held.push(() => answerWithout(received, response));
            }, SERVER);
      await using client = new TestEndpoint(server.url, { connection: through(proxy.url) });
      const exchanges = client.burst(3);
      await vi.waitFor(() => expect(held).toHaveLength(3));
      proxy.resetConnections();
      for (const exchange of await exchanges) {
        expect(exchange).toMatchObject({ fault: { cause: 'connection', sent: true } });
      }
      const next = client.post();
      await vi.waitFor(() => expect(held).toHaveLength(4));
      held.at(-1)?.();
      expect(await next).toMatchObject({ kind: 'reply' });
    },
  );

  it('connections end where their endpoint is closed', async () => {
    await using proxy = await ConnectProxy.start(options);
    await using server = await RecordingServer.start(answerWithout, SERVER);
    const client = new TestEndpoint(server.url, { connection: through(proxy.url) });
    await client.burst(5);
    await client[Symbol.asyncDispose]();
    await vi.waitFor(() => expect(proxy.openConnections).toBe(0), { timeout: 5000 });
  });
});

const PAGE = '<html><body>Sign in to the guest network</body></html>';

function refusing(head: string, body = ''): ProxyManner {
  return answering(`HTTP/1.1 ${head}\r\n\r\n${body}`);
}

describe('a proxy that makes no tunnel', () => {
  const html = 'content-type: text/html';
  const empty = 'content-length: 0';
  const pageLater: ProxyManner = (_, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    setTimeout(() => socket.resume().end(PAGE), 50);
  };

  it.each<[string, ProxyManner, string]>([
    ['refuses', refusing(`403 Forbidden\r\n${html}`, PAGE), 'PROXY_STATUS_403'],
    ['wants other credentials', tunnelFor('another:user'), 'PROXY_STATUS_407'],
    ['cannot reach the operator', refusing(`502 Bad Gateway\r\n${empty}`), 'PROXY_STATUS_502'],
    ['sends elsewhere', refusing(`302 Found\r\nlocation: /\r\n${empty}`), 'PROXY_STATUS_302'],
    ['answers a page in place of it', refusing(`200 OK\r\n${html}`, PAGE), 'PROXY_SENT_A_BODY'],
    ['answers a page after it', pageLater, 'ERR_SSL_'],
    ['answers what is not HTTP', answering(`${PAGE}\r\n\r\n`), 'PROXY_NOT_HTTP'],
    ['closes', answering(''), 'PROXY_NO_REPLY'],
    ['closes the tunnel', refusing('200 OK'), 'ECONNRESET'],
  ])('and %s: the log says so', async (_, manner, code) => {
    await using proxy = await ConnectProxy.start({ manner });
    await using server = await RecordingServer.start(answerWithout, SERVER);
    await using client = new TestEndpoint(server.url, { connection: through(proxy.url) });
    for (const exchange of await client.burst(3)) {
      const stage = code.startsWith('PROXY') ? 'proxy-tunnel' : 'tls';
      const detail = expect.stringContaining(code) as string;
      expect(exchange).toMatchObject({
        fault: { cause: 'connection', sent: false, stage, detail },
      });
    }
    expect(server.connections).toHaveLength(0);
    await vi.waitFor(() => expect(proxy.openConnections).toBe(0), { timeout: 5000 });
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
async function startSilent() {
  const server = createServer((socket) => void socket.resume());
  const silent = new ClosingServer(server);
  const { port } = new URL(await listen(server));
  return Object.assign(silent, { port });
}

const TIMEOUT_MS = 200;

describe('a connection that hangs', () => {
  it.each([
    ['before the proxy answers', 'http', 'proxy-tunnel'],
    ["in the proxy's handshake", 'https', 'proxy-tls'],
    ["in the operator's handshake, through a proxy", undefined, 'tls'],
  ])('%s ends in its time, and the log says where', async (_, scheme, stage) => {
    await using silent = await startSilent();
    await using proxy = await ConnectProxy.start();
    const log = new RecordedLog();
    const isOperator = scheme === undefined;
    const url = `https://127.0.0.1:${isOperator ? silent.port : 9}/`;
    const way = isOperator ? proxy.url : `${scheme}://127.0.0.1:${silent.port}`;
    const connection = through(way);
    await using client = new TestEndpoint(url, { connection, timeoutMs: TIMEOUT_MS, log });
    expect(await client.post()).toMatchObject({ fault: { cause: 'timeout', sent: false } });
    await vi.waitFor(() => {
      expect([silent.openConnections, proxy.openConnections]).toEqual([0, 0]);
      expect(log.troubles).toMatchObject([{ endpoint: 'test endpoint', stage }]);
    });
  });

  it('keeps no endpoint from being closed', async () => {
    await using silent = await startSilent();
    const client = new TestEndpoint('https://127.0.0.1:9/', {
      connection: through(`http://127.0.0.1:${silent.port}`),
    });
    const exchange = client.post();
    await vi.waitFor(() => expect(silent.openConnections).toBe(1));
    await client[Symbol.asyncDispose]();
    expect(await exchange).toMatchObject({ fault: { cause: 'connection', sent: false } });
    await vi.waitFor(() => expect(silent.openConnections).toBe(0));
  });
});
