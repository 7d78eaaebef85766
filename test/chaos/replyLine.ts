import type { Http2Session, ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import type { Socket } from 'node:net';
import { toBytes, type WireReply } from '../wire/wire.ts';

/** Does something after a while, unless the operator is closed before. */
export type Later = (ms: number, action: () => void) => void;

export interface ReplyLine {
  send(reply: WireReply): void;
  reset(): void;
  drip(reply: WireReply, pieceLength: number, everyMs: number): void;
  /** The reply, without the bytes that it says are missing. */
  cut(reply: WireReply, missing: number): void;
  garble(text: string): void;
  /** Reports that the request was not acted on; `false` where the protocol cannot. */
  refuse(): boolean;
  actOn(): void;
}

/** A connection of HTTP/1.1. */
export class Http1Line implements ReplyLine {
  readonly #socket: Socket;
  readonly #later: Later;

  constructor(socket: Socket, later: Later) {
    this.#socket = socket;
    this.#later = later;
  }

  send(reply: WireReply): void {
    this.#socket.write(toBytes(reply));
  }

  reset(): void {
    this.#socket.resetAndDestroy();
  }

  drip(reply: WireReply, pieceLength: number, everyMs: number): void {
    const bytes = toBytes(reply);
    let at = 0;
    const piece = (): void => {
      if (this.#socket.destroyed || at >= bytes.length) return;
      this.#socket.write(bytes.slice(at, at + pieceLength));
      at += pieceLength;
      this.#later(everyMs, piece);
    };
    piece();
  }

  cut(reply: WireReply, missing: number): void {
    this.#socket.end(toBytes(reply, Buffer.byteLength(reply.body) + missing));
  }

  garble(text: string): void {
    this.#socket.end(text);
  }

  refuse(): boolean {
    return false;
  }

  actOn(): void {
    // Only GOAWAY of HTTP/2 needs to know.
  }
}

/** The streams that one HTTP/2 connection has acted on. */
export class Http2Progress {
  #actedOn = 0;
  #lastToActOn = Infinity;

  /** Whether a request is to be acted on: none is above what GOAWAY said. */
  takes(stream: number): boolean {
    return stream <= this.#lastToActOn;
  }

  actOn(stream: number): void {
    this.#actedOn = Math.max(this.#actedOn, stream);
  }

  /** The last stream that is acted on, where this one is above it. */
  stopBefore(stream: number): number | undefined {
    if (stream <= this.#actedOn || this.#actedOn === 0) return undefined;
    this.#lastToActOn = this.#actedOn;
    return this.#actedOn;
  }
}

/** A stream of HTTP/2: its faults affect no other stream, unless the connection breaks. */
export class Http2Line implements ReplyLine {
  readonly #stream: ServerHttp2Stream;
  readonly #session: Http2Session;
  readonly #progress: Http2Progress;
  readonly #later: Later;
  readonly #breaksConnection: () => boolean;

  constructor(
    stream: ServerHttp2Stream,
    session: Http2Session,
    progress: Http2Progress,
    later: Later,
    breaksConnection: () => boolean,
  ) {
    this.#stream = stream;
    this.#session = session;
    this.#progress = progress;
    this.#later = later;
    this.#breaksConnection = breaksConnection;
  }

  send(reply: WireReply): void {
    if (!this.#respond(reply)) return;
    this.#stream.end(reply.body);
  }

  reset(): void {
    if (this.#breaksConnection()) this.#breakConnection();
    else this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }

  drip(reply: WireReply, pieceLength: number, everyMs: number): void {
    if (!this.#respond(reply)) return;
    const bytes = Buffer.from(reply.body);
    let at = 0;
    const piece = (): void => {
      if (this.#stream.destroyed) return;
      this.#stream.write(bytes.subarray(at, at + pieceLength));
      at += pieceLength;
      if (at >= bytes.length) this.#stream.end();
      else this.#later(everyMs, piece);
    };
    piece();
  }

  cut(reply: WireReply, missing: number): void {
    const length = Buffer.byteLength(reply.body) + missing;
    if (!this.#respond(reply, { 'content-length': length })) return;
    this.#stream.write(reply.body, () => {
      this.#stream.destroy(new Error('cut'));
    });
  }

  /** Takes the whole connection with it. */
  garble(): void {
    this.#breakConnection();
  }

  /** By a reset of the stream, or by GOAWAY where no later stream was acted on. */
  refuse(): boolean {
    const stream = this.#stream.id ?? 0;
    const last = this.#breaksConnection() ? this.#progress.stopBefore(stream) : undefined;
    if (last === undefined) this.#stream.close(constants.NGHTTP2_REFUSED_STREAM);
    else this.#session.goaway(constants.NGHTTP2_NO_ERROR, last);
    return true;
  }

  actOn(): void {
    this.#progress.actOn(this.#stream.id ?? 0);
  }

  #respond({ status, headers }: WireReply, more: object = {}): boolean {
    const { destroyed, closed, headersSent } = this.#stream;
    if (destroyed || closed || headersSent) return false;
    this.#stream.respond({ ...headers, ...more, ':status': status });
    return true;
  }

  #breakConnection(): void {
    this.#session.destroy();
  }
}
