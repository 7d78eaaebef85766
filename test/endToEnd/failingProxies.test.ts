import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { IS_LONG } from '../support/forms.ts';
import { ClosingServer, listen } from '../support/listening.ts';
import { startService } from '../support/service.ts';

const ASK = '{ phoneNumber(e164: "+447700900001") { simSwappedWithin } }';
/** Nothing listens there, and no proxy of these tests connects to it. */
const NOWHERE = 'https://127.0.0.1:9';

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

describe.each(['auto', 'never'])('a proxy before the operator (http2: %s)', (http2) => {
  // In the short form each way over one protocol, and a quarter of them over the other.
  const ways = WAYS.filter((_, way) => IS_LONG || http2 === 'auto' || way % 4 === 0);
  it.concurrent.each(ways)('that %s gets a few requests for tunnels', async (_way, way) => {
    await using proxy = await FailingProxy.start(way);
    await using service = await startService(NOWHERE, {
      OPERATOR_PROXY_URL: proxy.url,
      OPERATOR_TIMEOUT_MS: '300',
      OPERATOR_HTTP2: http2,
    });
    const reply = await service.ask(ASK);
    expect(reply.codes).not.toEqual([]);
    await proxy.afterTurns(50);
    // A token and its retry, and a spare or two for each.
    expect(proxy.connects).toBeLessThanOrEqual(6);
    expect(proxy.connections).toBeLessThanOrEqual(6);
  });
});
