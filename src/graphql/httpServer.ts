import { once } from 'node:events';
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { READ_BYTES, type BodyPace } from './bodyPace.ts';
import { wantsPage } from './explorer.ts';
import { UNKNOWN_CALLER } from './fairShares.ts';
import { replyOf, SECURITY_HEADERS, type Refusal, type Reply, type ReplyHeaders } from './reply.ts';

export interface HttpServerParts {
  readonly host: string;
  readonly port: number;
  /** @param headers those of every reply; more may be added */
  graphql(
    request: IncomingMessage,
    response: ServerResponse,
    headers: ReplyHeaders,
  ): Promise<Reply>;
  readonly pace: BodyPace;
  readonly frontPage: Reply;
  /** The needs that have not worked yet; /readyz fails until there are none. */
  waitingFor(): readonly string[];
  /** How long a client may take to read a complete reply. */
  readonly replyTimeoutMs: number;
  /** The limit on all replies together that wait for their clients to read. */
  readonly unreadBytes: number;
  /** The limit on connections without a request. */
  readonly idleConnections: number;
  /** How long {@link HttpServer.close} waits for requests under way before it cuts them off. */
  readonly drainLimitMs: number;
  onConnection(): void;
  onDefect(defect: unknown): void;
}

/** Slow and idle connections are closed: a client has this long for its headers, and for the whole request. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const MAX_HEADERS_BYTES = 16 * 1024;
/** Connections that wait to be accepted. One that finds no room there tries again after a second. */
const BACKLOG = 4096;
/**
 * What is read of a body before anybody takes it, but for the last read: of a body that waits one read is held, not two.
 */
const READ_AHEAD_BYTES = 16 * 1024;

/** Pieces of a body that are smaller are put together. */
const PIECE_BYTES = 1024;
/** In one turn of the event loop: a read of bytes that are chunks by themselves takes some 20. */
const MAX_PIECES_MS = 25;

/** The most that is dropped of a refused body: its client may read a reply only once it has sent everything. */
const MAX_DROPPED_BYTES = 32 * 1024 * 1024;
const DROPPING_MS = 5000;
/** The same once a server that closes has nothing else to do: its clients have their replies. */
const LAST_DROPPING_MS = 1000;
const LITTLE_BYTES = READ_BYTES / 4;
/** The limit on what is read of all refused bodies; each has at most one read while it waits for the next. */
const MAX_DROPPING_BYTES = 16 * 1024 * 1024;
/** A refused request until its body has been dropped: it holds its headers. */
const REFUSED_BYTES = 24 * 1024;

/** What is dropped of what comes behind a request before its reply: a client that sends more is cut off. */
const MAX_BEHIND_BYTES = 128 * 1024;

/** The service's HTTP side: /graphql, /livez, /readyz, and a page that names them. */
export class HttpServer {
  readonly #server: Server;
  readonly #parts: HttpServerParts;
  /** What is under way, one request a connection: until its headers leave, the connection can be marked to end with it. */
  readonly #underWay = new Map<Socket, UnderWay>();
  /** Connections without a request yet, and between two, those that have waited longest first. */
  readonly #new = new Set<Socket>();
  readonly #idle = new Set<Socket>();
  readonly #unread: UnreadReplies;
  readonly #dropping: UnreadReplies;
  /** When this turn of the event loop began to parse small pieces of bodies. */
  #piecesSinceMs: number | undefined;
  #isDraining = false;
  #isClosing = false;
  /** Whether what is dropped last ends soon. */
  #isEnding = false;

  constructor(parts: HttpServerParts) {
    this.#parts = parts;
    this.#unread = new UnreadReplies(parts.replyTimeoutMs, parts.unreadBytes);
    this.#dropping = new UnreadReplies(DROPPING_MS, parts.unreadBytes + MAX_DROPPING_BYTES);
    this.#server = createServer(
      {
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
        maxHeaderSize: MAX_HEADERS_BYTES,
        highWaterMark: READ_AHEAD_BYTES,
        connectionsCheckingInterval: 1000,
        // Node answers requests without it by itself: any number of those that it has read.
        requireHostHeader: false,
        IncomingMessage: requestsOf((socket) => this.#underWay.has(socket), this.#onPieces),
        shouldUpgradeCallback: ({ socket }) => this.#underWay.has(socket),
      },
      this.#serve,
    );
    // The same; none but 100-continue is known, and others may be ignored (RFC 9110 §10.1.1).
    this.#server.on('checkExpectation', this.#serve);
    this.#server.on('upgrade', this.#endPipeline);
    this.#server.on('connection', (socket: Socket) => {
      parts.onConnection();
      this.#awaitRequest(socket, this.#new);
      socket.once('close', () => {
        this.#new.delete(socket);
        this.#idle.delete(socket);
        this.#closeIdleConnections();
      });
    });
  }

  /** Listens, and resolves to the address that it serves at. Rejects when the port is in use. */
  async listen(): Promise<string> {
    const { host, port } = this.#parts;
    this.#server.listen({ port, host, backlog: BACKLOG });
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string')
      throw new Error('The server does not listen on a port.');
    const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
    return `http://${name}:${address.port}`;
  }

  /**
   * From now on /readyz fails, so that no further requests are sent here. Those that arrive are still served, but each
   * is the last of its connection: a client that kept one would be cut off at the end.
   */
  startDraining(): void {
    this.#isDraining = true;
    for (const { response } of this.#underWay.values()) {
      if (response !== undefined) endConnectionAfter(response);
    }
  }

  /**
   * Accepts no further connections. Resolves when every reply is sent, or after the limit, to the number of requests
   * that were cut off: not answered yet, or with a reply that was still being read.
   */
  async close(): Promise<number> {
    this.startDraining();
    const unreadBefore = this.#unread.cutOff;
    let atLimit = 0;
    const limit = setTimeout(() => {
      for (const { response } of this.#underWay.values()) if (!isSent(response)) atLimit += 1;
      this.#server.closeAllConnections();
      // Node does not count those on which others came behind.
      for (const socket of this.#underWay.keys()) socket.destroy();
    }, this.#parts.drainLimitMs);
    await new Promise<void>((resolve) => {
      // Not the close of an HTTP server: it destroys connections whose reply is complete and not yet sent.
      NetServer.prototype.close.call(this.#server, () => resolve());
      this.#isClosing = true;
      this.#closeIdleConnections();
    });
    clearTimeout(limit);
    return atLimit + this.#unread.cutOff - unreadBefore;
  }

  /**
   * Each may hold headers that are not complete. Beyond the limit the one that has waited longest is closed. New ones have
   * half of it, so that however many come, those that clients keep stay.
   */
  #awaitRequest(socket: Socket, waiting: Set<Socket>): void {
    waiting.add(socket);
    if (waiting.size <= this.#parts.idleConnections / 2) return;
    const [longest] = waiting;
    if (longest === undefined) return;
    waiting.delete(longest);
    longest.destroy();
  }

  /** Closes idle connections once every reply is sent: those with `connection: close` end with their reply. */
  readonly #closeIdleConnections = (): void => {
    if (!this.#isClosing || this.#underWay.size > this.#dropping.size) return;
    if (this.#underWay.size > 0) {
      if (this.#isEnding) return;
      this.#isEnding = true;
      setTimeout(() => {
        this.#isEnding = false;
        this.#dropping.cutSent();
      }, LAST_DROPPING_MS).unref();
      return;
    }
    this.#server.closeIdleConnections();
    // Node does not count those as idle that have sent nothing yet. No further ones will come.
    for (const socket of this.#new) if (socket.bytesRead === 0) socket.destroy();
  };

  readonly #serve: RequestListener = (request, response) => {
    const { socket } = request;
    const underWay: UnderWay = { response, isLast: false };
    this.#underWay.set(socket, underWay);
    this.#new.delete(socket);
    this.#idle.delete(socket);
    response.once('close', () => {
      underWay.response = undefined;
      this.#underWay.delete(socket);
      if (underWay.isLast) socket.destroySoon();
      else if (!socket.destroyed) this.#awaitRequest(socket, this.#idle);
      this.#closeIdleConnections();
    });
    if (this.#isDraining) endConnectionAfter(response);
    const headers = { ...SECURITY_HEADERS };
    const fault = headerFault(request);
    takeHostOfTarget(request);
    if (fault !== undefined) {
      this.#send(response, headers, replyOf(fault, request.headers.accept));
    } else if (isAt('/graphql', request)) void this.#answer(request, response, headers);
    else this.#send(response, headers, this.#replyOutsideGraphql(request));
  };

  /**
   * A connection carries one request at a time. It ends with the reply to that one, and what was sent behind it is not
   * served (RFC 9112 §9.3.2: its client sends it again): waiting replies would hold their requests, of which no limit
   * counts the bytes.
   */
  readonly #endPipeline = ({ socket }: IncomingMessage, behind: Duplex, head: Buffer): void => {
    const before = this.#underWay.get(socket);
    if (before === undefined) return void socket.destroy();
    before.isLast = true;
    if (before.response !== undefined) endConnectionAfter(before.response);
    let droppedBytes = head.length;
    behind.on('error', () => undefined);
    behind.on('data', ({ length }: Buffer) => {
      droppedBytes += length;
      if (droppedBytes > MAX_BEHIND_BYTES) socket.destroy();
    });
  };

  /** What has come of other connections waits for the next turn, once one has parsed small pieces of bodies for a while. */
  readonly #onPieces = (): void => {
    const nowMs = performance.now();
    if (this.#piecesSinceMs === undefined) {
      this.#piecesSinceMs = nowMs;
      setImmediate(() => (this.#piecesSinceMs = undefined));
    }
    if (nowMs < this.#piecesSinceMs + MAX_PIECES_MS) return;
    this.#piecesSinceMs = Infinity;
    const all = [...this.#new, ...this.#idle, ...this.#underWay.keys()];
    const others = all.filter((socket) => !socket.isPaused());
    for (const socket of others) socket.pause();
    setImmediate(() => others.forEach((socket) => socket.resume()));
  };

  #replyOutsideGraphql(request: IncomingMessage): Reply {
    if (isAt('/livez', request)) return json(200, { status: 'alive' });
    if (isAt('/readyz', request)) {
      if (this.#isDraining) return json(503, { status: 'draining' });
      const waitingFor = this.#parts.waitingFor();
      if (waitingFor.length > 0) return json(503, { status: 'starting', waitingFor });
      return json(200, { status: 'ready' });
    }
    const isPage = isAt('/', request) && wantsPage(request);
    return isPage ? this.#parts.frontPage : replyOf(NOT_FOUND, request.headers.accept);
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    headers: ReplyHeaders,
  ): Promise<void> {
    try {
      const reply = await this.#parts.graphql(request, response, headers);
      if (response.destroyed) return;
      let unread: Unread | undefined;
      if (reply.headers['connection'] === 'close' && !request.complete) {
        unread = this.#dropping.add(response, REFUSED_BYTES);
        holdNothingOf(request);
        // One that is closed ends here: in the queue it would hold its request, which nothing counts any longer.
        await new Promise<void>((resolve) => {
          response.once('close', resolve);
          this.#parts.pace.turn(REFUSED, resolve);
        });
      }
      this.#send(response, headers, reply, unread);
    } catch (defect) {
      this.#parts.onDefect(defect);
      if (response.headersSent) response.destroy();
      else this.#send(response, headers, replyOf(INTERNAL_ERROR, request.headers.accept));
    }
  }

  /** @param refused where its body is among those that are dropped already */
  #send(response: ServerResponse, headers: ReplyHeaders, reply: Reply, refused?: Unread): void {
    if (response.destroyed) return;
    const { status, body } = reply;
    Object.assign(headers, reply.headers);
    if (status !== 204 && response.req.method !== 'HEAD') {
      headers['content-length'] = String(Buffer.byteLength(body));
    }
    response.writeHead(status, headers);
    const { readableEnded, destroyed } = response.req;
    if (headers['connection'] === 'close' && !readableEnded && !destroyed) {
      this.#endOnceRead(response, body, refused);
      return;
    }
    response.end(body);
    // The system accepts most replies at once.
    if (response.socket?.writableLength !== 0) this.#unread.add(response, body.length);
  }

  /**
   * Sends a reply whose connection ends with it. The rest of the request is dropped first: a connection that is closed
   * while its client sends is reset, and the reply is lost with it.
   */
  #endOnceRead(response: ServerResponse, body: Reply['body'], refused: Unread | undefined): void {
    const { req: request } = response;
    response.write(body);
    const end = (): void => void response.end();
    const unread = refused ?? this.#dropping.add(response, REFUSED_BYTES);
    let dropped = 0;
    request.on('data', ({ length }: Buffer) => {
      const before = dropped;
      dropped += length;
      if (before <= LITTLE_BYTES && dropped > LITTLE_BYTES) this.#dropping.hold(unread, READ_BYTES);
      if (dropped > MAX_DROPPED_BYTES) end();
      else this.#parts.pace.await(request, UNKNOWN_CALLER);
    });
    request.once('end', end).once('close', end).resume();
    request.socket.resume();
    this.#closeIdleConnections();
  }
}

/** Bodies that are refused before they have come: thousands may be in one turn of the event loop. */
const REFUSED = ' refused';

/** Drops what has come of a body, and reads no more of it. */
function holdNothingOf(request: IncomingMessage): void {
  request.pause();
  request.read();
  // That has begun another read.
  process.nextTick(() => request.socket.pause());
}

/** Node's parser goes at once through all that it has read of a connection: these requests are what it may find there. */
function requestsOf(
  isUnderWay: (socket: Socket) => boolean,
  onPieces: () => void,
): typeof IncomingMessage {
  return class extends IncomingMessage {
    declare isUpgrade: boolean;
    #hasBody = false;
    #pieces: Buffer[] = [];
    #piecesBytes = 0;

    get upgrade(): boolean {
      return this.isUpgrade;
    }

    /** One that comes before the reply to the one before it reads as an upgrade of its connection, where the parser stops. */
    set upgrade(isUpgrade: boolean | null) {
      this.isUpgrade = isUpgrade === true || isUnderWay(this.socket);
    }

    /** Small pieces of a body become one: each by itself would be held with half a kilobyte, and has several ticks. */
    override push(piece: Buffer | null): boolean {
      if (piece === null || piece.length >= PIECE_BYTES || !this.#hasBody) {
        this.#hasBody = true;
        this.#pushPieces();
        return super.push(piece);
      }
      if (this.#pieces.length === 0) setImmediate(() => this.#pushPieces());
      this.#pieces.push(piece);
      this.#piecesBytes += piece.length;
      if (this.#piecesBytes >= PIECE_BYTES) {
        this.#pushPieces();
        onPieces();
      }
      return true;
    }

    #pushPieces(): void {
      if (this.#pieces.length === 0) return;
      const piece = Buffer.concat(this.#pieces);
      this.#pieces = [];
      this.#piecesBytes = 0;
      if (!super.push(piece)) this.socket.pause();
    }
  };
}

/** Of a target that names its host, as for a proxy, that host counts, whatever the header says (RFC 9112 §3.2.2). */
function takeHostOfTarget(request: IncomingMessage): void {
  const { url = '' } = request;
  const [target, host] = /^https?:\/\/([^/?#@]+)(?=[/?]|$)/i.exec(url) ?? [];
  if (target === undefined) return;
  request.headers.host = host;
  request.url = url.slice(target.length);
}

function isAt(path: string, { url = '/' }: IncomingMessage): boolean {
  return url === path || url.startsWith(`${path}?`);
}

const NOT_FOUND: Refusal = { status: 404, code: 'BAD_REQUEST', message: 'GraphQL is at /graphql.' };

const NO_HOST: Refusal = {
  status: 400,
  code: 'BAD_REQUEST',
  message: 'The header host is missing. Send it.',
  headers: { connection: 'close' },
};

const DUPLICATE_HEADER: Refusal = {
  status: 400,
  code: 'BAD_REQUEST',
  message: 'The header host or authorization was sent twice. Send it once.',
  headers: { connection: 'close' },
};

/**
 * Of a request that names no host, two hosts or two callers. Node reads the first of either, and a proxy before this
 * service may have read the last (RFC 9112 §3.2, RFC 9110 §5.3).
 */
function headerFault({ rawHeaders, httpVersion }: IncomingMessage): Refusal | undefined {
  // Node's own headersDistinct would be held as long as the request.
  let hosts = 0;
  let authorizations = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
    if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations += 1;
  }
  if (hosts > 1 || authorizations > 1) return DUPLICATE_HEADER;
  return hosts === 0 && httpVersion === '1.1' ? NO_HOST : undefined;
}

const INTERNAL_ERROR: Refusal = { status: 500, code: 'INTERNAL_SERVER_ERROR' };

/** Whether the system has taken all of the reply. */
function isSent(response: ServerResponse | undefined): boolean {
  return response?.headersSent === true && response.writableLength === 0;
}

function endConnectionAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

function json(status: number, body: object): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(body),
  };
}

/**
 * A response while it is under way. It is cleared at the end: when a Set of V8 grows, its old table lives until the
 * next full collection, with its contents (docs/decisions/0025-objects-that-live-as-long-as-a-request.md).
 */
interface Held {
  response: ServerResponse | undefined;
}

interface UnderWay extends Held {
  /** Whether others came behind it. */
  isLast: boolean;
}

interface Unread extends Held {
  bytes: number;
}

/** Cuts off clients whose replies do not end: each after a time, the slowest of several when all hold too much. */
class UnreadReplies {
  readonly #timeoutMs: number;
  readonly #maxBytes: number;
  /** In the order in which they were completed. */
  readonly #replies = new Set<Unread>();
  cutOff = 0;
  #bytes = 0;

  /**
   * @param timeoutMs for one reply, from its completion on
   * @param maxBytes of all
   */
  constructor(timeoutMs: number, maxBytes: number) {
    this.#timeoutMs = timeoutMs;
    this.#maxBytes = maxBytes;
  }

  add(response: ServerResponse, bytes: number): Unread {
    const unread: Unread = { response, bytes: 0 };
    const timer = setTimeout(() => this.#cut(unread), this.#timeoutMs);
    response.once('close', () => {
      clearTimeout(timer);
      this.#forget(unread);
    });
    this.#replies.add(unread);
    this.hold(unread, bytes);
    return unread;
  }

  get size(): number {
    return this.#replies.size;
  }

  /** Cuts off the clients whose replies are complete but for their end. */
  cutSent(): void {
    for (const unread of this.#replies) if (isSent(unread.response)) this.#cut(unread);
  }

  /** Counts more bytes for a reply, which is the latest from now on; none for one that has ended. */
  hold(unread: Unread, bytes: number): void {
    if (!this.#replies.delete(unread)) return;
    this.#replies.add(unread);
    unread.bytes += bytes;
    this.#bytes += bytes;
    for (const oldest of this.#replies) {
      if (this.#bytes <= this.#maxBytes || oldest === unread) return;
      this.#cut(oldest);
      this.#forget(oldest);
    }
  }

  #forget(unread: Unread): void {
    if (!this.#replies.delete(unread)) return;
    this.#bytes -= unread.bytes;
    unread.response = undefined;
  }

  #cut({ response }: Unread): void {
    this.cutOff += 1;
    response?.req.socket.destroy();
  }
}
