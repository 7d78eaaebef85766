import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer, Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket, type TlsOptions } from 'node:tls';
import { ClosingServer, listen } from '../support/listening.ts';

/** One connection as the server sees it. */
export interface Connection {
  readonly socket: Socket;
  /** Resolves when it is closed, from whichever side. */
  readonly closed: Promise<void>;
  /** Whether its handshake resumed an earlier session. */
  readonly isResumed: boolean;
  requests: number;
}

/** One request that reached the server, whole. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly correlator: string;
  readonly connection: Connection;
}

/** Answers a request; `response.socket` is for bytes that are not HTTP. */
export type Answer = (received: Received, response: ServerResponse) => void;

/** A server on a free port that records its requests and connections. */
export class RecordingServer extends ClosingServer {
  url = '';
  readonly received: Received[] = [];
  readonly connections: Connection[] = [];

  private constructor(answer: Answer, tls: TlsOptions | undefined) {
    const take = (request: IncomingMessage, response: ServerResponse): void => {
      const connection = this.connections.find(({ socket }) => socket === request.socket);
      if (connection === undefined) throw new Error('A request without a connection.');
      connection.requests += 1;
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url: path = '', headers } = request;
        const body = Buffer.concat(chunks).toString('utf8');
        const correlator = String(headers['x-correlator']);
        const one: Received = { method, path, headers, body, correlator, connection };
        this.received.push(one);
        answer(one, response);
      });
    };
    super(
      tls === undefined
        ? createServer(take)
        : createSecureServer({ keepAliveTimeout: 0, ...tls }, take),
    );
    this.server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
      // Many tests have clients that break off.
      socket.on('error', () => undefined);
      const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
      const isResumed = socket instanceof TLSSocket && socket.isSessionReused();
      this.connections.push({ socket, closed, isResumed, requests: 0 });
    });
  }

  /** @param tls plain text where absent */
  static async start(answer: Answer, tls?: TlsOptions): Promise<RecordingServer> {
    const made = new RecordingServer(answer, tls);
    const address = await listen(made.server);
    made.url = tls === undefined ? address : address.replace('http:', 'https:');
    return made;
  }

  /** For new connections. */
  set tls(tls: TlsOptions) {
    if (this.server instanceof SecureServer) this.server.setSecureContext(tls);
  }

  /** Refuses new connections until {@link reopen}. */
  shut(): void {
    this.server.close();
  }

  async reopen(): Promise<void> {
    this.server.listen(Number(new URL(this.url).port), '127.0.0.1');
    await once(this.server, 'listening');
  }

  /** Connections that are open and have carried nothing. */
  get unused(): readonly Connection[] {
    return this.connections.filter(({ socket, requests }) => requests === 0 && !socket.destroyed);
  }
}

/** Answers with JSON and the correlator of the request. */
export function answerJson(
  { correlator }: Received,
  response: ServerResponse,
  body: unknown,
  status = 200,
): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-correlator': correlator });
  response.end(JSON.stringify(body));
}

/** Answers with JSON, without a correlator. */
export function answerWithout(_received: unknown, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end('{}');
}

/** The address of a port without a listener. */
export async function deadUrl(): Promise<string> {
  const server = await RecordingServer.start(() => undefined);
  await server[Symbol.asyncDispose]();
  return server.url;
}
