import {
  createSecureServer,
  type IncomingHttpHeaders,
  type Http2Session,
  type ServerHttp2Stream,
  type Settings,
} from 'node:http2';
import type { Socket } from 'node:net';
import { ClosingServer, listen } from '../support/listening.ts';
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
  /** Sees each connection before anything is read of it. */
  readonly onConnection?: (socket: Socket) => void;
}

/** A server of HTTP/2 over TLS on a free port that records its requests. */
export class Http2Server extends ClosingServer {
  port = 0;
  readonly received: ReceivedByStream[] = [];
  readonly sessions: Http2Session[] = [];

  private constructor(certificate: Certificate, answer: AnswerByStream, options: Options) {
    const { settings = {}, onConnection } = options;
    const server = createSecureServer({ ...certificate, settings });
    if (onConnection !== undefined) server.on('connection', onConnection);
    super(server);
    server.on('session', (session) => {
      this.sessions.push(session);
      // Many tests have clients that break off.
      session.on('error', () => undefined);
    });
    server.on('stream', (stream, headers) => {
      const { session } = stream;
      stream.on('error', () => undefined);
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (session === undefined || stream.destroyed) return;
        const body = Buffer.concat(chunks).toString('utf8');
        const correlator = String(headers['x-correlator']);
        const one = { stream, session, headers, correlator, body };
        this.received.push(one);
        answer(one);
      });
    });
  }

  static async start(
    certificate: Certificate,
    answer: AnswerByStream,
    options: Options = {},
  ): Promise<Http2Server> {
    const made = new Http2Server(certificate, answer, options);
    made.port = Number(new URL(await listen(made.server)).port);
    return made;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}/check`;
  }
}

/** Answers with JSON, with the correlator where one is given. */
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
