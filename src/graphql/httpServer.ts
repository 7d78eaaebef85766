import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { BodyPace } from './bodyPace.ts';
import type { Acceptance } from '../system/acceptance.ts';
import { wantsPage } from './explorer.ts';
import { dropBehind, parsedRequests, stopParserBehind } from './parsedRequests.ts';
import { RefusedBodies } from './refusedBodies.ts';
import { replyOf, SECURITY_HEADERS, type Refusal, type Reply, type ReplyHeaders } from './reply.ts';
import { isSent, UnreadReplies, type Held, type Unread } from './unreadReplies.ts';

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
  readonly acceptance: Pick<Acceptance, 'accepted'>;
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

/** The most time for bodies that are dropped, once a server that closes has nothing else to do: their replies are sent. */
const LAST_DROPPING_MS = 1000;

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
  readonly #refused: RefusedBodies;
  #isDraining = false;
  #isClosing = false;
  /** Whether what is dropped last ends soon. */
  #isEnding = false;

  constructor(parts: HttpServerParts) {
    this.#parts = parts;
    this.#unread = new UnreadReplies(parts.replyTimeoutMs, parts.unreadBytes);
    this.#refused = new RefusedBodies(parts.pace, parts.unreadBytes);
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
        IncomingMessage: parsedRequests({
          new: this.#new,
          kept: () => [...this.#idle, ...this.#underWay.keys()],
        }),
        // One that is offered is ignored.
        shouldUpgradeCallback: () => false,
      },
      this.#serve,
    );
    // The same; none but 100-continue is known, and others may be ignored (RFC 9110 §10.1.1).
    this.#server.on('checkExpectation', this.#serve);
    this.#server.on('upgrade', this.#endPipeline);
    this.#server.on('connection', (socket: Socket) => {
      parts.acceptance.accepted();
      stopParserBehind(socket, (one) => this.#underWay.has(one));
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
    if (!this.#isClosing || this.#underWay.size > this.#refused.size) return;
    if (this.#underWay.size > 0) {
      if (this.#isEnding) return;
      this.#isEnding = true;
      setTimeout(() => {
        this.#isEnding = false;
        this.#refused.cutSent();
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
    dropBehind(socket, behind, head);
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
      const unread = bodyComesStill(request) ? await this.#refused.turn(response) : undefined;
      this.#send(response, headers, reply, unread);
    } catch (defect) {
      this.#parts.onDefect(defect);
      if (response.headersSent) response.destroy();
      else this.#send(response, headers, replyOf(INTERNAL_ERROR, request.headers.accept));
    }
  }

  /** @param unread where its body is among those that are dropped already */
  #send(response: ServerResponse, headers: ReplyHeaders, reply: Reply, unread?: Unread): void {
    if (response.destroyed) return;
    const { status, body } = reply;
    Object.assign(headers, reply.headers);
    if (bodyComesStill(response.req)) headers['connection'] = 'close';
    if (status !== 204 && response.req.method !== 'HEAD') {
      headers['content-length'] = String(Buffer.byteLength(body));
    }
    response.writeHead(status, headers);
    const { readableEnded, destroyed } = response.req;
    if (headers['connection'] === 'close' && !readableEnded && !destroyed) {
      this.#refused.send(response, body, unread);
      this.#closeIdleConnections();
      return;
    }
    response.end(body);
    // The system accepts most replies at once.
    if (response.socket?.writableLength !== 0) this.#unread.add(response, body.length);
  }
}

/** Of a body that nobody takes, Node by itself reads all that comes, behind the reply too. */
function bodyComesStill({ complete, headers }: IncomingMessage): boolean {
  const announced = headers['transfer-encoding'] ?? headers['content-length'] ?? '0';
  return !complete && announced !== '0';
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

interface UnderWay extends Held {
  /** Whether others came behind it. */
  isLast: boolean;
}
