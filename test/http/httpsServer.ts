import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Certificate } from '../tls/certificate.ts';

/** One connection as the server sees it. */
export interface SecureConnection {
  readonly socket: TLSSocket;
  /** Whether its handshake resumed an earlier session. */
  readonly isResumed: boolean;
  readonly closed: Promise<void>;
  requests: number;
}

/** A server on a free port of this machine that speaks HTTP/1.1 over TLS, and counts. */
export class HttpsServer implements AsyncDisposable {
  readonly url: string;
  readonly connections: readonly SecureConnection[];
  readonly #server: Server;

  private constructor(port: number, connections: readonly SecureConnection[], server: Server) {
    this.url = `https://127.0.0.1:${port}/check`;
    this.connections = connections;
    this.#server = server;
  }

  static async start(
    certificate: Certificate,
    answer: (request: IncomingMessage, response: ServerResponse) => void,
    onConnection: (connection: SecureConnection) => void = () => undefined,
  ): Promise<HttpsServer> {
    const connections: SecureConnection[] = [];
    const server = createServer({ ...certificate, keepAliveTimeout: 0 }, (request, response) => {
      const connection = connections.find(({ socket }) => socket === request.socket);
      if (connection !== undefined) connection.requests += 1;
      request.resume().on('end', () => answer(request, response));
    });
    server.on('secureConnection', (socket: TLSSocket) => {
      socket.on('error', () => undefined);
      const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
      const connection = { socket, isResumed: socket.isSessionReused(), closed, requests: 0 };
      connections.push(connection);
      onConnection(connection);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return new HttpsServer(port, connections, server);
  }

  /** Connections that are open and have carried nothing. */
  get unused(): readonly SecureConnection[] {
    return this.connections.filter(({ socket, requests }) => requests === 0 && !socket.destroyed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.connections) socket.destroy();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** Answers without a correlator. */
export function answerWithout(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end('{}');
}
