import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { ConnectionSettings } from '../../src/wire/wireSettings.ts';
import { ClosingServer, listen } from '../support/listening.ts';
import { RecordedLog } from '../support/recordedLog.ts';
import { Authority } from '../tls/authority.ts';
import { answering, ConnectProxy, tunnelFor, type ProxyManner } from './connectProxy.ts';
import { answerByStream, Http2Server } from './http2Server.ts';
import { answerWithout, RecordingServer } from './recordingServer.ts';
import { isReply, TestEndpoint, text } from './testEndpoint.ts';

const SERVERS = new Authority('Servers of the operator');
const SERVER = SERVERS.issue();
const PROXIES = new Authority('Proxies of the company');
const CREDENTIALS = 'sim-swap:kept between us: two';

/** The settings of an operator behind a proxy. */
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

  it('HTTP/2 takes one tunnel, the operator does not see the credentials, and closing ends it', async () => {
    await using proxy = await ConnectProxy.start(options);
    await using server = await Http2Server.start(SERVER, (received) =>
      answerByStream(received, {}),
    );
    const client = new TestEndpoint(server.url, { connection: through(proxy.url) });
    expect((await client.burst(100)).every(isReply)).toBe(true);
    expect(proxy.requests.map(({ url }) => url)).toEqual([new URL(server.url).host]);
    expect(Object.keys(server.received[0]?.headers ?? {})).not.toContain('proxy-authorization');
    await client[Symbol.asyncDispose]();
    await expect.poll(() => proxy.openConnections).toBe(0);
  });

  it.each(['http/1.1', 'h2'])(
    'a reset tunnel fails only the exchanges under way, over %s',
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
      await expect.poll(() => held.length).toBe(3);
      proxy.resetConnections();
      const lost = { fault: { cause: 'connection', sent: true } };
      expect(await exchanges).toMatchObject([lost, lost, lost]);
      const next = client.post();
      await expect.poll(() => held.length).toBe(4);
      held.at(-1)?.();
      expect(await next).toMatchObject({ kind: 'reply' });
    },
  );
});

const PAGE = '<html><body>Sign in to the guest network</body></html>';

function refusing(head: string, body = ''): ProxyManner {
  return answering(`HTTP/1.1 ${head}\r\n\r\n${body}`);
}

describe('a proxy without a tunnel', () => {
  const html = 'content-type: text/html';
  const empty = 'content-length: 0';
  const pageLater: ProxyManner = (_, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    setTimeout(() => socket.resume().end(PAGE), 50);
  };

  it.each<[string, ProxyManner, string]>([
    ['that refuses', refusing(`403 Forbidden\r\n${html}`, PAGE), 'PROXY_STATUS_403'],
    ['with other credentials', tunnelFor('another:user'), 'PROXY_STATUS_407'],
    ['that cannot reach the operator', refusing(`502 Bad Gateway\r\n${empty}`), 'PROXY_STATUS_502'],
    ['that redirects', refusing(`302 Found\r\nlocation: /\r\n${empty}`), 'PROXY_STATUS_302'],
    ['that sends a page', refusing(`200 OK\r\n${html}`, PAGE), 'PROXY_SENT_A_BODY'],
    ['that sends a page after its 200', pageLater, 'ERR_SSL_'],
    ['that does not speak HTTP', answering(`${PAGE}\r\n\r\n`), 'PROXY_NOT_HTTP'],
    ['that closes', answering(''), 'PROXY_NO_REPLY'],
    ['that closes the tunnel', refusing('200 OK'), 'ECONNRESET'],
  ])('%s: the fault names stage and code', async (_, manner, code) => {
    await using proxy = await ConnectProxy.start({ manner });
    await using server = await RecordingServer.start(answerWithout, SERVER);
    await using client = new TestEndpoint(server.url, { connection: through(proxy.url) });
    const stage = code.startsWith('PROXY') ? 'proxy-tunnel' : 'tls';
    const detail = expect.stringContaining(code) as string;
    const failed = { fault: { cause: 'connection', sent: false, stage, detail } };
    expect(await client.burst(3)).toMatchObject([failed, failed, failed]);
    expect(server.connections).toHaveLength(0);
    await expect.poll(() => proxy.openConnections).toBe(0);
  });

  it('with an untrusted certificate gets no credentials', async () => {
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
    ['that does not listen', 'http://127.0.0.1:9', 'proxy-connection', 'ECONNREFUSED'],
    ['whose name is not known', 'http://proxy.invalid:3128', 'proxy-name', 'ENOTFOUND'],
  ])('%s: the fault names stage and code', async (_, url, stage, detail) => {
    await using client = new TestEndpoint('https://127.0.0.1:9/', { connection: through(url) });
    expect(await client.post()).toMatchObject({ fault: { sent: false, stage, detail } });
  });
});

/** A listener that accepts connections and stays silent. */
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
  ])('%s ends in time, and the log has the stage', async (_, scheme, stage) => {
    await using silent = await startSilent();
    await using proxy = await ConnectProxy.start();
    const log = new RecordedLog();
    const isOperator = scheme === undefined;
    const url = `https://127.0.0.1:${isOperator ? silent.port : 9}/`;
    const way = isOperator ? proxy.url : `${scheme}://127.0.0.1:${silent.port}`;
    const connection = through(way);
    await using client = new TestEndpoint(url, { connection, timeoutMs: TIMEOUT_MS, log });
    expect(await client.post()).toMatchObject({ fault: { cause: 'timeout', sent: false } });
    const open = () => [silent.openConnections, proxy.openConnections];
    await expect.poll(open).toEqual([0, 0]);
    await expect.poll(() => log.troubles).toMatchObject([{ endpoint: 'test endpoint', stage }]);
  });

  it('ends when its endpoint is closed', async () => {
    await using silent = await startSilent();
    const client = new TestEndpoint('https://127.0.0.1:9/', {
      connection: through(`http://127.0.0.1:${silent.port}`),
    });
    const exchange = client.post();
    await expect.poll(() => silent.openConnections).toBe(1);
    await client[Symbol.asyncDispose]();
    expect(await exchange).toMatchObject({ fault: { cause: 'connection', sent: false } });
    await expect.poll(() => silent.openConnections).toBe(0);
  });
});
