import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { ClosingServer, listen } from '../support/listening.ts';
import type { Certificate } from '../tls/certificate.ts';

/** How the proxy handles a request for a tunnel. */
export type ProxyManner = (request: IncomingMessage, socket: Duplex) => void;

interface Options {
  /** Speaks TLS itself, with this certificate. */
  readonly certificate?: Certificate;
  /** In place of the tunnel. */
  readonly manner?: ProxyManner;
}

/** A forward proxy (RFC 9110 §9.3.6) on a free port that records its requests. */
export class ConnectProxy extends ClosingServer {
  url = '';
  readonly requests: IncomingMessage[] = [];
  manner: ProxyManner;

  private constructor({ certificate, manner = tunnel }: Options) {
    super(certificate === undefined ? createServer() : createSecureServer(certificate));
    this.manner = manner;
    this.server.on('connect', (request: IncomingMessage, socket: Duplex) => {
      this.requests.push(request);
      socket.on('error', () => undefined);
      this.manner(request, socket);
    });
  }

  static async start(options: Options = {}): Promise<ConnectProxy> {
    const proxy = new ConnectProxy(options);
    const address = await listen(proxy.server);
    const isPlain = options.certificate === undefined;
    proxy.url = isPlain ? address : address.replace('http:', 'https:');
    return proxy;
  }
}

/** Makes the tunnel. */
export function tunnel({ url = '' }: IncomingMessage, socket: Duplex): void {
  const { hostname, port } = new URL(`http://${url}`);
  const far = connect({ host: hostname, port: Number(port) });
  far.on('connect', () => {
    socket.write('HTTP/1.1 200 Connection established\r\nvia: 1.1 proxy\r\n\r\n');
    socket.pipe(far).pipe(socket);
  });
  const end = (): void => {
    far.destroy();
    socket.destroy();
  };
  far.on('error', end).on('close', end);
  socket.on('close', end);
}

/** Sends the text and closes. */
export function answering(text: string): ProxyManner {
  return (_, socket) => void socket.resume().end(text);
}

/** A tunnel for clients with these credentials. */
export function tunnelFor(credentials: string): ProxyManner {
  const expected = `Basic ${Buffer.from(credentials).toString('base64')}`;
  return (request, socket) => {
    if (request.headers['proxy-authorization'] === expected) tunnel(request, socket);
    else {
      socket.end(
        'HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic realm="egress"\r\ncontent-length: 0\r\n\r\n',
      );
    }
  };
}
