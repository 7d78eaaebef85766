import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { IS_LONG } from '../forms.ts';
import { ClosingServer, listen } from '../listening.ts';
import { AUDIENCE, claimsAt, createKey, ISSUER, sign } from '../caller/testIssuer.ts';
import { startService, startSimulated, type Service } from '../service.ts';

const ASK = 'query ($e164: ID!) { phoneNumber(e164: $e164) { simSwappedWithin } }';
const NUMBER = '+447700900001';
/** Nothing listens there, and no proxy of these tests connects to it. */
const NOWHERE = 'https://127.0.0.1:9';
const TIMEOUT_MS = 300;

/** What a proxy does with a connection before it has read anything, or once it has read the request for a tunnel. */
interface Failing {
  readonly onConnection?: (socket: Socket) => void;
  readonly onRequest?: (socket: Socket) => void;
}

const PAGE = '<html><body>Sign in to the guest network</body></html>';

function saying(text: string): Failing {
  return { onRequest: (socket) => void socket.end(text) };
}

function sayingAndHanging(text: string): Failing {
  return { onRequest: (socket) => void socket.write(text) };
}

const WAYS: readonly (readonly [string, Failing])[] = [
  ['closes before it has read', { onConnection: (socket) => void socket.end() }],
  ['resets before it has read', { onConnection: (socket) => void socket.resetAndDestroy() }],
  ['closes without a word', saying('')],
  ['resets without a word', { onRequest: (socket) => void socket.resetAndDestroy() }],
  ['is silent', {}],
  ['cuts its head and closes', saying('HTTP/1.1 200 OK\r\nvia: 1.1 pro')],
  ['cuts its head and is silent', sayingAndHanging('HTTP/1.1 200 OK\r\nvia: 1.1 pro')],
  ['has a head without an end', sayingAndHanging(`HTTP/1.1 200 OK\r\nvia: ${'v'.repeat(100_000)}`)],
  ['says 100 and closes', saying('HTTP/1.1 100 Continue\r\n\r\n')],
  ['says 100 and is silent', sayingAndHanging('HTTP/1.1 100 Continue\r\n\r\n')],
  [
    'says 101',
    saying('HTTP/1.1 101 Switching Protocols\r\nupgrade: tls\r\nconnection: upgrade\r\n\r\n'),
  ],
  ['says 103 and closes', saying('HTTP/1.1 103 Early Hints\r\n\r\n')],
  [
    'says 302',
    saying('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n'),
  ],
  ['says 403 with a page', saying(`HTTP/1.1 403 Forbidden\r\n\r\n${PAGE}`)],
  ['says 407', saying('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n')],
  ['says 502', saying('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n')],
  ['says 200 with a page', saying(`HTTP/1.1 200 OK\r\n\r\n${PAGE}`)],
  ['says 200 and closes the tunnel', saying('HTTP/1.1 200 OK\r\n\r\n')],
  ['says what is not HTTP', saying(`${PAGE}\r\n\r\n`)],
];

class FailingProxy extends ClosingServer {
  connections = 0;
  connects = 0;
  url = '';
  readonly #way: Failing;

  private constructor(way: Failing) {
    super(createServer((socket) => this.#take(socket)));
    this.#way = way;
  }

  static async start(way: Failing): Promise<FailingProxy> {
    const proxy = new FailingProxy(way);
    proxy.url = await listen(proxy.server);
    return proxy;
  }

  /** Resolves once so many connections were made and closed one after the other: time for a storm to go on. */
  async afterTurns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) {
      const socket = connect(Number(new URL(this.url).port), '127.0.0.1').on(
        'error',
        () => undefined,
      );
      await new Promise<void>((resolve) => socket.on('close', () => resolve()).end());
      this.connections -= 1;
    }
  }

  #take(socket: Socket): void {
    this.connections += 1;
    this.#way.onConnection?.(socket);
    let head = '';
    socket.on('data', (data: Buffer) => {
      if (head.endsWith('\r\n\r\n')) return;
      head += data.toString('latin1');
      if (!head.endsWith('\r\n\r\n')) return;
      this.connects += 1;
      this.#way.onRequest?.(socket);
    });
  }
}

/** The kinds of connections that there are: what else is published, and the directory, are reached by the same. */
const BEHIND: readonly (readonly [string, (proxy: string) => Promise<Service>])[] = [
  ['the operator', (proxy) => startService(NOWHERE, operatorBehind(proxy))],
  [
    'the operator over HTTP/1.1',
    (proxy) => startService(NOWHERE, { ...operatorBehind(proxy), OPERATOR_HTTP2: 'never' }),
  ],
  [
    "the issuer's keys",
    (proxy) =>
      startSimulated({
        JWT_JWKS_URL: `${NOWHERE}/keys`,
        EGRESS_PROXY_URL: proxy,
        JWT_ISSUER: ISSUER,
        JWT_AUDIENCE: AUDIENCE,
      }),
  ],
];

function operatorBehind(proxy: string): Readonly<Record<string, string>> {
  return { OPERATOR_PROXY_URL: proxy, OPERATOR_TIMEOUT_MS: String(TIMEOUT_MS) };
}

describe.each(BEHIND.map((behind, index) => [...behind, index] as const))(
  'a proxy before %s',
  (_name, start, index) => {
    // In the short form each way before the operator, and some of them before the others.
    const ways = WAYS.filter((_, way) => IS_LONG || index === 0 || (way + index) % 4 === 0);
    it.concurrent.each(ways)('that %s is asked for a few tunnels', async (_way, way) => {
      await using proxy = await FailingProxy.start(way);
      await using service = await start(proxy.url);
      const key = await createKey('ES256');
      const token = await sign(key, claimsAt(Date.now(), { scope: 'sim-swap:read' }));
      const reply = await service.ask(ASK, { e164: NUMBER }, { authorization: `Bearer ${token}` });
      expect(reply.codes).not.toEqual([]);
      await proxy.afterTurns(50);
      // A token and its retry, and a spare or two for each.
      expect(proxy.connects).toBeLessThanOrEqual(6);
      expect(proxy.connections).toBeLessThanOrEqual(6);
    });
  },
);
