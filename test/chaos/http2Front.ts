import { createSecureServer, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import type { WireRequest } from '../http/wire.ts';
import { ClosingServer, listen } from '../listening.ts';
import type { Certificate } from '../tls/certificate.ts';
import { Http2Line, Http2Progress, type Later, type ReplyLine } from './replyLine.ts';

/** What a connection of the front takes at a time: fewer than are under way. */
const MAX_STREAMS = 16;

/** Takes requests over HTTP/2 alone, and hands each on with the way back to it. */
export class Http2Front extends ClosingServer {
  readonly #progress = new WeakMap<Http2Session, Http2Progress>();

  constructor(
    certificate: Certificate,
    later: Later,
    breaksConnection: () => boolean,
    exchange: (line: ReplyLine, request: WireRequest) => void,
  ) {
    const settings = { maxConcurrentStreams: MAX_STREAMS };
    const server = createSecureServer({ ...certificate, settings });
    super(server);
    server.on('session', (session) => {
      this.#progress.set(session, new Http2Progress());
      session.on('error', () => undefined);
    });
    server.on('stream', (stream: ServerHttp2Stream, headers) => {
      stream.on('error', () => undefined);
      const { session } = stream;
      const progress = session === undefined ? undefined : this.#progress.get(session);
      const number = stream.id ?? 0;
      let body = '';
      stream.setEncoding('utf8');
      stream.on('data', (chunk: string) => (body += chunk));
      stream.on('end', () => {
        if (session === undefined || progress === undefined) return;
        if (stream.destroyed || !progress.takes(number)) return;
        const line = new Http2Line(stream, session, progress, later, breaksConnection);
        const named = Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, String(value)]),
        );
        exchange(line, { path: String(headers[':path']), headers: named, body });
      });
    });
  }

  async listen(): Promise<string> {
    return (await listen(this.server)).replace('http:', 'https:');
  }

  close(): Promise<void> {
    return this[Symbol.asyncDispose]();
  }
}
