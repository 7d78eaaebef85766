import type { TLSSocket } from 'node:tls';
import { errors } from 'undici';
import { derived } from '../system/fromFiles.ts';
import { CONNECTION_HEADERS } from './headers.ts';
import type { ReplyReader } from './replyReader.ts';
import type { ConnectionsParts } from './http1Connections.ts';
import { Http2Connection, type ConnectionEvents, type ConnectionParts } from './http2Connection.ts';
import type { TlsConnector } from './tlsConnector.ts';

export interface Http2Fallback {
  choseHttp1(readers: readonly ReplyReader[], socket: TLSSocket): void;
  brokeHttp2(readers: readonly ReplyReader[], detail: string): void;
}

interface Http2Parts extends ConnectionsParts {
  readonly connector: TlsConnector;
  readonly fallback: Http2Fallback;
}

/** The most connections in a row that a server may break without a reply. */
const MAX_BROKEN_CONNECTIONS = 2;

/** A connection that is silent for longer, while an exchange waits, is retired. */
const MAX_SILENCE_MS = 1000;

/** Where an old connection could not be replaced, it is tried again after this time. */
const REPLACES_AFTER_MS = 60_000;

/** An endpoint's HTTP/2 connections: as few as needed, opened one at a time. Exchanges without room wait, unsent. */
export class Http2Connections implements ConnectionEvents {
  readonly #parts: Http2Parts;
  readonly #connectionParts: ConnectionParts;
  readonly #connections = new Set<Http2Connection>();
  readonly #retired = new Set<Http2Connection>();
  readonly #waiting = new Set<ReplyReader>();
  /** Exchanges that a server has already returned once at its shutdown. */
  readonly #returned = new WeakSet<ReplyReader>();
  #broken = 0;
  #isConnecting = false;
  #replacesAgainAtMs = -Infinity;
  #isClosed = false;

  constructor(parts: Http2Parts) {
    this.#parts = parts;
    const { url, headers, correlatorHeader, timeoutMs, clock } = parts;
    const fixed = [':scheme', 'https', ':authority', url.host, 'accept', 'application/json'];
    const head = derived(headers, (own) => fixed.concat(overHttp2(own)));
    const silentAfterMs = Math.min(MAX_SILENCE_MS, timeoutMs / 2);
    this.#connectionParts = { origin: url.origin, head, correlatorHeader, silentAfterMs, clock };
  }

  get open() {
    const open = [...this.#connections, ...this.#retired];
    return { http2: open.length, streams: open.reduce((sum, { streams }) => sum + streams, 0) };
  }

  carry(reader: ReplyReader): void {
    const connection = this.#withRoom();
    if (connection === undefined) {
      this.#wait(reader);
    } else {
      connection.carry(reader);
      if (connection.isOld) this.#replace();
    }
  }

  renew(): void {
    for (const connection of this.#connections) connection.retire();
  }

  close(): void {
    this.#isClosed = true;
    this.#failWaiting(new errors.ClientDestroyedError());
    for (const connection of [...this.#connections, ...this.#retired]) connection.destroy();
  }

  hasRoom(): void {
    for (const reader of this.#waiting) {
      const connection = this.#withRoom();
      if (connection === undefined) break;
      this.#waiting.delete(reader);
      connection.carry(reader);
    }
    this.#connectIfNeeded();
  }

  /** A new connection replaces the old ones. */
  settled(): void {
    const old = [...this.#connections].filter(({ isOld }) => isOld);
    if (old.length === this.#connections.size) return;
    for (const connection of old) connection.retire();
  }

  retired(connection: Http2Connection): void {
    this.#connections.delete(connection);
    this.#retired.add(connection);
    this.#connectIfNeeded();
  }

  ended(connection: Http2Connection): void {
    this.#retired.delete(connection);
  }

  returned(reader: ReplyReader): void {
    if (this.#returned.has(reader)) {
      reader.onRefusedUnprocessed(new errors.SocketError('GOAWAY'));
      return;
    }
    this.#returned.add(reader);
    this.carry(reader);
  }

  replied(): void {
    this.#broken = 0;
  }

  broke(isFinal: boolean, detail: string): void {
    if (this.#isClosed) return;
    this.#broken += 1;
    if (!isFinal && this.#broken < MAX_BROKEN_CONNECTIONS) return;
    this.#parts.fallback.brokeHttp2(this.#leave(), detail);
  }

  #withRoom(): Http2Connection | undefined {
    for (const connection of this.#connections) if (connection.hasRoom) return connection;
    return undefined;
  }

  #wait(reader: ReplyReader): void {
    if (this.#isClosed) {
      reader.onRefusedUnprocessed(new errors.ClientDestroyedError());
      return;
    }
    this.#waiting.add(reader);
    reader.waitIn({ abort: () => this.#waiting.delete(reader) });
    this.#connectIfNeeded();
  }

  #connectIfNeeded(): void {
    if (this.#waiting.size === 0 || this.#isConnecting || this.#isClosed) return;
    if (this.#connections.size >= this.#parts.connections) return;
    for (const connection of this.#connections) if (!connection.isFull) return;
    this.#connect();
  }

  /** The old connection serves until the new one is ready, or while none can be made. */
  #replace(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    if (this.#isConnecting || this.#isClosed || nowMs < this.#replacesAgainAtMs) return;
    this.#replacesAgainAtMs = nowMs + REPLACES_AFTER_MS;
    this.#connect();
  }

  #connect(): void {
    this.#isConnecting = true;
    this.#parts.connector.connect(['h2', 'http/1.1'], (connected) => {
      this.#isConnecting = false;
      if (connected instanceof Error) this.#failWaiting(connected);
      else this.#take(connected);
    });
  }

  #take(socket: TLSSocket): void {
    if (this.#isClosed) {
      socket.destroy();
    } else if (socket.alpnProtocol === 'h2') {
      this.#connections.add(new Http2Connection(socket, this.#connectionParts, this));
    } else {
      this.#parts.fallback.choseHttp1(this.#leave(), socket);
    }
  }

  /** Waiting exchanges are unsent; they may find room on an existing connection. */
  #failWaiting(error: Error): void {
    if (this.#connections.size > 0 && !this.#isClosed) return;
    for (const reader of this.#takeWaiting()) reader.onResponseError(null, error);
  }

  #leave(): readonly ReplyReader[] {
    this.#broken = 0;
    const waiting = this.#takeWaiting();
    for (const connection of this.#connections) connection.retire();
    return waiting;
  }

  #takeWaiting(): readonly ReplyReader[] {
    const readers = [...this.#waiting];
    this.#waiting.clear();
    return readers;
  }
}

/** Names in lower case (RFC 9113 §8.2), without those of HTTP/1.1. */
function overHttp2(headers: readonly string[]): readonly string[] {
  const over: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const name = (headers[index] ?? '').toLowerCase();
    if (!CONNECTION_HEADERS.has(name)) over.push(name, headers[index + 1] ?? '');
  }
  return over;
}
