import type { TLSSocket } from 'node:tls';
import { buildConnector, Pool } from 'undici';
import type { Clock } from '../system/clock.ts';
import type { ReplyReader } from './replyReader.ts';
import { ConnectFailure } from './connectFailure.ts';
import { withoutContinue } from './interimReplies.ts';
import { SpareConnections, type IdleDetector } from './spareConnections.ts';
import type { OnConnected, TlsConnector } from './tlsConnector.ts';

const KEEP_ALIVE_MS = 30_000;

/**
 * A connection that is never idle lives until something breaks it, and changes since it was made (of the addresses of
 * the name, of the server's certificate) never take effect. After this time it is replaced.
 */
export const MAX_CONNECTION_AGE_MS = 60_000;

export interface ConnectionsParts {
  readonly url: URL;
  readonly clock: Clock;
  /** Names and values in turn. */
  readonly headers: () => readonly string[];
  /** In lower case. */
  readonly correlatorHeader: string;
  /** The limit for one exchange, from connecting to the last byte of the reply. */
  readonly timeoutMs: number;
  /** How many may be open at a time; over HTTP/1.1, of the kept and of the fresh ones each. */
  readonly connections: number;
}

interface Http1Parts extends ConnectionsParts {
  readonly connector: TlsConnector | undefined;
  readonly idleDetector: IdleDetector;
}

/** The HTTP/1.1 connections of one endpoint: one exchange at a time on each, nothing pipelined. */
export class Http1Connections {
  readonly #parts: Http1Parts;
  /** Connections that carry one exchange after the other. */
  #kept: Pool;
  #keptSinceMs: number;
  readonly #retired = new Set<Pool>();
  /** Connections that carry one exchange and are then closed. */
  readonly #fresh: Pool;
  readonly #spares: SpareConnections | undefined;

  constructor(parts: Http1Parts) {
    this.#parts = parts;
    const { connector, clock } = parts;
    this.#kept = createKeptPool(parts);
    this.#keptSinceMs = clock.monotonicMs();
    const spares = connector && new SpareConnections({ ...parts, connector });
    this.#spares = spares;
    this.#fresh = createPool(parts, spares && ((onConnected) => spares.take(onConnected)));
  }

  get open() {
    const http1 = this.#kept.stats.connected + this.#fresh.stats.connected;
    return { http1, spare: this.#spares?.count ?? 0 };
  }

  carry(reader: ReplyReader, needsFreshConnection: boolean): void {
    const { method = 'POST', contentType, headers, body = null, correlator } = reader.post;
    const { correlatorHeader: name } = this.#parts;
    const { path, generatedHeaders } = reader;
    // One list, of which each exchange has its own; `concat` would take nine times as long.
    const sent = [name, correlator, 'accept', 'application/json'];
    if (contentType !== undefined) sent.push('content-type', contentType);
    for (const list of [this.#parts.headers(), generatedHeaders, headers]) {
      for (const text of list) sent.push(text);
    }
    reader.way = needsFreshConnection ? 'fresh connection' : 'kept connection';
    const ageMs = this.#parts.clock.monotonicMs() - this.#keptSinceMs;
    if (!needsFreshConnection && ageMs >= MAX_CONNECTION_AGE_MS) this.#renewKept();
    (needsFreshConnection ? this.#fresh : this.#kept).dispatch(
      {
        path,
        method,
        // A lookup by GET is billed as well: undici must not send it again.
        idempotent: false,
        headers: sent,
        body,
        reset: needsFreshConnection,
      },
      reader,
    );
  }

  keepSpare(socket: TLSSocket): void {
    this.#spares?.add(socket);
  }

  /** New exchanges take new connections; those under way finish on the old ones. */
  renew(): void {
    this.#spares?.renew();
    this.#renewKept();
  }

  #renewKept(): void {
    const retired = this.#kept;
    this.#kept = createKeptPool(this.#parts);
    this.#keptSinceMs = this.#parts.clock.monotonicMs();
    this.#retired.add(retired);
    void retired.close().finally(() => this.#retired.delete(retired));
  }

  async close(): Promise<void> {
    this.#spares?.close();
    const pools = [this.#kept, this.#fresh, ...this.#retired];
    await Promise.all(pools.map((pool) => pool.destroy()));
  }
}

function createKeptPool(parts: Http1Parts): Pool {
  const { connector } = parts;
  return createPool(
    parts,
    connector && ((onConnected) => connector.connect(['http/1.1'], onConnected)),
  );
}

function createPool(
  { url, connections, timeoutMs }: Http1Parts,
  connect: ((onConnected: OnConnected) => void) | undefined,
): Pool {
  const inPlainText = buildConnector({ timeout: timeoutMs });
  return new Pool(url.origin, {
    connections,
    pipelining: 1,
    allowH2: false,
    connect(to, callback) {
      if (connect) connect(handTo(callback));
      else {
        inPlainText(to, (error, socket) =>
          error === null ? callback(null, withoutContinue(socket)) : callback(error, null),
        );
      }
    },
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Our one timer spans the whole exchange; undici's timers restart with every byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/**
 * Passes a connection or a failure to undici. A connection that has ended is passed as a failure: undici would create
 * an error of its own, and connect again at once.
 */
export function handTo(callback: buildConnector.Callback): OnConnected {
  return (connected) => {
    if (connected instanceof Error) callback(connected, null);
    else if (connected.destroyed) callback(new ConnectFailure('tls', 'CLOSED'), null);
    else callback(null, withoutContinue(connected));
  };
}
