import {
  connect,
  constants,
  sensitiveHeaders,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { errors } from 'undici';
import type { Clock } from '../system/clock.ts';
import { errorName } from '../domain/errors.ts';
import type { Carrier, ReplyReader } from './replyReader.ts';
import { singleValue } from './headers.ts';
import { noteLateRefusal } from './connectFailure.ts';
import { MAX_CONNECTION_AGE_MS } from './http1Connections.ts';

/** The most streams on one connection, whatever the server allows. */
const MAX_STREAMS = 100;

/** After this many cancelled streams a connection is retired: servers take more for an attack (CVE-2023-44487). */
const MAX_CANCELLED = 100;

/** Shorter than the idle limits of common gateways (60 to 75 s), which may cut silently. */
const IDLE_MS = 55_000;

/** A reply whose headers are longer is refused, as over HTTP/1.1. */
const MAX_HEADER_BYTES = 16 * 1024;

const WANTS_NO_HTTP2: ReadonlySet<number> = new Set([
  constants.NGHTTP2_HTTP_1_1_REQUIRED,
  constants.NGHTTP2_INADEQUATE_SECURITY,
]);

export interface ConnectionParts {
  readonly origin: string;
  /** Names and values in turn. */
  readonly head: () => readonly string[];
  readonly correlatorHeader: string;
  /** A connection without any data for this time may be dead. */
  readonly silentAfterMs: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

export interface ConnectionEvents {
  hasRoom(): void;
  /** The server's settings have arrived. */
  settled(): void;
  retired(connection: Http2Connection): void;
  ended(connection: Http2Connection): void;
  /** It is proven that the server has not acted on this exchange: GOAWAY as it shuts down. */
  returned(reader: ReplyReader): void;
  replied(): void;
  broke(isFinal: boolean, detail: string): void;
}

/**
 * One HTTP/2 connection. Each exchange has its own stream, which identifies its reply (RFC 9113 §5.1.1);
 * a stream that ends early does not affect the others. Until the server's settings arrive, one stream is sent.
 */
export class Http2Connection {
  readonly #session: ClientHttp2Session;
  readonly #socket: TLSSocket;
  readonly #parts: ConnectionParts;
  readonly events: ConnectionEvents;
  readonly #streams = new Set<Http2Stream>();
  readonly #openedAtMs: number;
  #limit = 1;
  #isConnected = false;
  #hasSettings = false;
  #isRetired = false;
  #hasReplied = false;
  #hasBroken = false;
  /** The server refuses our certificate, and has read nothing. */
  refusal: Error | undefined;
  #cancelled = 0;
  /** Counts what arrived on any stream: a connection that stays silent may be dead. */
  receivedFrames = 0;

  constructor(socket: TLSSocket, parts: ConnectionParts, events: ConnectionEvents) {
    this.#socket = socket;
    this.#parts = parts;
    this.events = events;
    this.#openedAtMs = parts.clock.monotonicMs();
    this.#session = connect(parts.origin, {
      createConnection: () => socket,
      settings: { enablePush: false, maxHeaderListSize: MAX_HEADER_BYTES },
    });
    this.#session
      .on('connect', () => {
        this.#isConnected = true;
        this.#session.setTimeout(IDLE_MS, () => {
          if (this.#streams.size === 0) this.retire();
        });
        this.events.hasRoom();
      })
      .on('remoteSettings', ({ maxConcurrentStreams = MAX_STREAMS }) => {
        this.#hasSettings = true;
        this.#limit = Math.min(maxConcurrentStreams, MAX_STREAMS);
        if (this.#limit > 0) this.events.settled();
        this.events.hasRoom();
      })
      .on('goaway', (code, lastStreamId) => this.#goAway(code, lastStreamId))
      // Streams get the error too.
      .on('error', (error) => this.#broke(false, errorName(error)))
      .on('close', () => this.#closed());
    socket.on('error', (error) => {
      if (!noteLateRefusal(error, socket)) return;
      // The certificate is refused, not HTTP/2.
      this.refusal = error;
      this.retire();
    });
  }

  get streams(): number {
    return this.#streams.size;
  }

  get hasRoom(): boolean {
    // The session has ended before its event reports it.
    const isOpen = this.#isConnected && !this.#isRetired && !this.#session.closed;
    return isOpen && !this.#session.destroyed && this.#streams.size < this.#limit;
  }

  get isOld(): boolean {
    return this.#parts.clock.monotonicMs() - this.#openedAtMs >= MAX_CONNECTION_AGE_MS;
  }

  get isFull(): boolean {
    return this.#hasSettings && this.#limit > 0 && this.#streams.size >= this.#limit;
  }

  carry(reader: ReplyReader): void {
    if (reader.isSettled) return;
    const { method = 'POST', contentType, headers, body = '', correlator } = reader.post;
    const { head: always, correlatorHeader } = this.#parts;
    const { path, generatedHeaders } = reader;
    const own = [correlatorHeader, correlator].concat(generatedHeaders, headers);
    const content =
      contentType === undefined
        ? []
        : ['content-type', contentType, 'content-length', String(Buffer.byteLength(body))];
    const head = [':method', method, ':path', path].concat(always(), content, own);
    // Different for each request: in the table of HPACK they would only evict values that repeat.
    Object.assign(head, { [sensitiveHeaders]: ['authorization', correlatorHeader] });
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.request(head, { endStream: contentType === undefined });
    } catch (error) {
      // For example a header that HTTP/2 forbids. Rethrown, it would end the process.
      reader.onRefusedUnprocessed(error instanceof Error ? error : new Error('not a request'));
      return;
    }
    const beganAtMs = this.#parts.clock.monotonicMs();
    this.#streams.add(new Http2Stream(this, stream, reader, beganAtMs));
    if (contentType !== undefined) stream.end(body);
  }

  replied(): void {
    this.#hasReplied = true;
    this.events.replied();
  }

  ended(stream: Http2Stream): void {
    if (!this.#streams.delete(stream)) return;
    if (!this.#isRetired) this.events.hasRoom();
    else if (this.#streams.size === 0) this.destroy();
  }

  /** A stream was closed, perhaps with the whole connection, whose event follows. */
  look(): void {
    if (this.#session.destroyed) this.#closed();
  }

  cancelled(stream: Http2Stream): void {
    this.#cancelled += 1;
    const { clock, silentAfterMs } = this.#parts;
    const isLong = clock.monotonicMs() - stream.beganAtMs >= silentAfterMs;
    const isSilent = isLong && this.receivedFrames === stream.receivedBefore;
    if (isSilent) this.#broke(false, 'nothing came');
    if (isSilent || this.#cancelled >= MAX_CANCELLED) this.retire();
    this.ended(stream);
  }

  /** Takes no further streams; ends with its last one. */
  retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.events.retired(this);
    if (this.#streams.size === 0) this.destroy();
  }

  destroy(): void {
    this.#isRetired = true;
    this.#session.destroy();
    // The session would wait for pending writes, which a dead peer never reads.
    setImmediate(() => this.#socket.destroy());
  }

  /** RFC 9113 §6.8: streams above the last one were not and will not be processed. */
  #goAway(code: number, lastStreamId: number): void {
    if (code !== constants.NGHTTP2_NO_ERROR) {
      this.#broke(WANTS_NO_HTTP2.has(code), `GOAWAY with code ${code}`);
    }
    this.retire();
    const error = new errors.SocketError(`GOAWAY with code ${code}`);
    const isShutdown = code === constants.NGHTTP2_NO_ERROR;
    for (const stream of this.#streams) stream.goAway(lastStreamId, isShutdown, error);
  }

  #closed(): void {
    this.#broke(false, 'closed');
    this.retire();
    for (const stream of this.#streams) stream.lose();
    this.events.ended(this);
  }

  #broke(isFinal: boolean, detail: string): void {
    // After a reply the server evidently speaks HTTP/2, and its end is an ordinary failure; so is an end that we
    // caused.
    if (this.#hasBroken || (!isFinal && (this.#hasReplied || this.#isRetired))) return;
    this.#hasBroken = true;
    this.events.broke(isFinal, detail);
  }
}

class Http2Stream implements Carrier {
  readonly #connection: Http2Connection;
  readonly #stream: ClientHttp2Stream;
  readonly #reader: ReplyReader;
  readonly beganAtMs: number;
  /** `receivedFrames` of its connection when the stream began. */
  readonly receivedBefore: number;
  /** Part of a reply arrived, perhaps interim: the server has acted, whatever it sends later. */
  #isActedOn = false;
  #hasReply = false;
  #error: Error | undefined;
  #contentLength: string | undefined;
  #isOver = false;

  constructor(
    connection: Http2Connection,
    stream: ClientHttp2Stream,
    reader: ReplyReader,
    beganAtMs: number,
  ) {
    this.#connection = connection;
    this.#stream = stream;
    this.#reader = reader;
    this.beganAtMs = beganAtMs;
    this.receivedBefore = connection.receivedFrames;
    reader.way = 'stream';
    reader.onRequestStart(this);
    stream
      .on('headers', () => this.#noteReplyPart())
      .on('response', (headers) => this.#onResponse(headers))
      .on('data', (chunk: Buffer) => {
        if (this.#noteReplyPart()) reader.onResponseData(this, chunk);
      })
      .on('end', () => this.#onEnd())
      .on('error', (error: Error) => {
        this.#error = error;
      })
      .on('close', () => this.#onClose());
  }

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stream.close(constants.NGHTTP2_CANCEL);
    this.#connection.cancelled(this);
  }

  goAway(lastStreamId: number, isShutdown: boolean, error: Error): void {
    const isRefused = (this.#stream.id ?? 0) > lastStreamId && !this.#isActedOn;
    if (!isRefused) {
      // Node ends the whole session on any code but that of a shutdown.
      if (!isShutdown) this.lose(error);
      return;
    }
    this.#finish();
    if (isShutdown) this.#connection.events.returned(this.#reader);
    else this.#reader.onRefusedUnprocessed(error);
  }

  /** Ends without a reply; the server may have acted. */
  lose(error = this.#ended()): void {
    if (this.#finish()) this.#reader.onResponseError(null, error);
  }

  #onResponse(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    if (!this.#noteReplyPart()) return;
    this.#hasReply = true;
    this.#contentLength = singleValue(headers['content-length']);
    this.#reader.onResponseStart(this, headers[':status'] ?? 0, headers);
    if (this.#isOver) this.#connection.retire();
  }

  /** A part of the reply arrived; `false` where the exchange is over. */
  #noteReplyPart(): boolean {
    if (this.#isOver) return false;
    this.#connection.receivedFrames += 1;
    this.#isActedOn = true;
    return true;
  }

  #onEnd(): void {
    // After a reset, the data before it is read to its end as well; `close` has the reason.
    if (this.#isOver || !this.#hasReply || this.#stream.rstCode !== constants.NGHTTP2_NO_ERROR) {
      return;
    }
    const length = this.#contentLength;
    if (length !== undefined && Number(length) !== this.#reader.bodyBytes) {
      this.lose();
      return;
    }
    this.#finish();
    this.#connection.replied();
    this.#reader.onResponseEnd();
  }

  #onClose(): void {
    if (this.#isOver) return;
    this.#connection.look();
    const { rstCode } = this.#stream;
    if (rstCode !== constants.NGHTTP2_REFUSED_STREAM || this.#isActedOn) {
      this.lose();
    } else if (this.#finish()) {
      this.#reader.onRefusedUnprocessed(this.#ended());
    }
  }

  #ended(): Error {
    return this.#connection.refusal ?? this.#error ?? new errors.SocketError('other side closed');
  }

  #finish(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#connection.ended(this);
    return true;
  }
}
