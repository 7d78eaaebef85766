import { Pool } from 'undici';
import type { ReplyReader } from '../replyReader.ts';
import type { TlsConnector } from './tlsConnector.ts';

/** Kept for so long between exchanges where the server does not say for how long it keeps them. */
const KEEP_ALIVE_MS = 30_000;

/** What the connections of one endpoint share. */
export interface Http1Parts {
  readonly url: URL;
  /** `undefined` in plain text. */
  readonly connector: TlsConnector | undefined;
  /** Names and values, in turn, of the headers of each request. */
  readonly headers: readonly string[];
  readonly timeoutMs: number;
  /** Open at a time, of those that are kept and of those that are not. */
  readonly connections: number;
}

/** The HTTP/1.1 connections of one endpoint: one exchange at a time on each, nothing pipelined. */
export class Http1Connections {
  /** Carry one exchange after the other. */
  readonly #kept: Pool;
  /** Carry one exchange and are closed. */
  readonly #fresh: Pool;
  readonly #path: string;
  readonly #headers: readonly string[];

  constructor(parts: Http1Parts) {
    this.#path = parts.url.pathname;
    this.#headers = parts.headers;
    this.#kept = createPool(parts);
    this.#fresh = createPool(parts);
  }

  carry(reader: ReplyReader, needsFreshConnection: boolean): void {
    const { contentType, correlator, headers, body } = reader.post;
    reader.way = needsFreshConnection ? 'fresh connection' : 'kept connection';
    (needsFreshConnection ? this.#fresh : this.#kept).dispatch(
      {
        path: this.#path,
        method: 'POST',
        headers: this.#headers.concat(
          'content-type',
          contentType,
          'x-correlator',
          correlator,
          headers,
        ),
        body,
        reset: needsFreshConnection,
      },
      reader,
    );
  }

  async close(): Promise<void> {
    await Promise.all([this.#kept.destroy(), this.#fresh.destroy()]);
  }
}

function createPool({ url, connector, timeoutMs, connections }: Http1Parts): Pool {
  return new Pool(url.origin, {
    connections,
    pipelining: 1,
    allowH2: false,
    connect:
      connector === undefined
        ? { timeout: timeoutMs }
        : (_options, callback) =>
            connector.connect(['http/1.1'], (connected) => {
              if (connected instanceof Error) callback(connected, null);
              else callback(null, connected);
            }),
    keepAliveTimeout: KEEP_ALIVE_MS,
    // One timer of ours spans the whole exchange; undici's own would restart with every byte dripped.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
