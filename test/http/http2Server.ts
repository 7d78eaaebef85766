import { once } from 'node:events';
import {
  createSecureServer,
  type IncomingHttpHeaders,
  type Http2Session,
  type ServerHttp2Stream,
  type Settings,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Certificate } from '../tls/certificate.ts';

/** One request that reached the server, whole. */
export interface ReceivedByStream {
  readonly stream: ServerHttp2Stream;
  readonly session: Http2Session;
  readonly headers: IncomingHttpHeaders;
  readonly correlator: string;
  readonly body: string;
}

export type AnswerByStream = (received: ReceivedByStream) => void;

interface Options {
  readonly settings?: Settings;
  /** Called at the head of a request, before its body. */
  readonly onHead?: (stream: ServerHttp2Stream) => void;
  readonly port?: number;
  /** Sees each connection before anything is read of it. */
  readonly onConnection?: (socket: Socket) => void;
}

/** A server on a free port of this machine that speaks HTTP/2 over TLS and writes down what reaches it. */
export class Http2Server implements AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly received: readonly ReceivedByStream[];
  readonly sessions: readonly Http2Session[];
  readonly #sockets: ReadonlySet<Socket>;
  readonly #close: () => Promise<void>;

  private constructor(
    port: number,
    received: readonly ReceivedByStream[],
    sessions: readonly Http2Session[],
    sockets: ReadonlySet<Socket>,
    close: () => Promise<void>,
  ) {
    this.port = port;
    this.url = `https://127.0.0.1:${port}/check`;
    this.received = received;
    this.sessions = sessions;
    this.#sockets = sockets;
    this.#close = close;
  }

  static async start(
    certificate: Certificate,
    answer: AnswerByStream,
    { settings = {}, onHead, port: wanted = 0, onConnection = () => undefined }: Options = {},
  ): Promise<Http2Server> {
    const received: ReceivedByStream[] = [];
    const sessions: Http2Session[] = [];
    const sockets = new Set<Socket>();
    const server = createSecureServer({ ...certificate, settings });
    server.on('connection', (socket: Socket) => {
      onConnection(socket);
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    });
    server.on('session', (session) => {
      sessions.push(session);
      // A client that breaks off is what many tests are about.
      session.on('error', () => undefined);
    });
    server.on('stream', (stream, headers) => {
      const { session } = stream;
      stream.on('error', () => undefined);
      onHead?.(stream);
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (session === undefined || stream.destroyed) return;
        const body = Buffer.concat(chunks).toString('utf8');
        const correlator = String(headers['x-correlator']);
        const one = { stream, session, headers, correlator, body };
        received.push(one);
        answer(one);
      });
    });
    server.listen(wanted, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return new Http2Server(port, received, sessions, sockets, async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    });
  }

  /** Connections that are open. */
  get openConnections(): number {
    return this.#sockets.size;
  }

  /** Resets all connections that are open. */
  resetConnections(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

/** Answers with JSON, without a correlator unless one is given. */
export function answerByStream(
  { stream }: ReceivedByStream,
  body: unknown,
  { status = 200, correlator }: { status?: number; correlator?: string } = {},
): void {
  stream.respond({
    ':status': status,
    'content-type': 'application/json',
    ...(correlator === undefined ? {} : { 'x-correlator': correlator }),
  });
  stream.end(JSON.stringify(body));
}
