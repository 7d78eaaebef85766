import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../system/clock.ts';
import type { Log } from '../../log/log.ts';
import type { ReplyCheck } from '../echo.ts';
import type { AddressedRequest, Departure, Exchange, OutgoingRequest } from '../exchange.ts';
import type { ConnectFailure } from '../connectFailure.ts';
import type { ConnectionFiles } from './connectionFiles.ts';
import { Http1Connections } from './http1Connections.ts';
import { Http2Connections, type Http2Fallback } from './http2Connections.ts';
import type { IdleDetector } from './spareConnections.ts';
import type { Http2Setting } from '../wireSettings.ts';
import { TlsConnector, type AlpnProtocol } from './tlsConnector.ts';
import { derived } from '../../system/fromFiles.ts';
import { ReplyReader } from '../replyReader.ts';

/** The exchange that was not begun, since no time was left; it says nothing about the endpoint. */
export const NO_TIME: Exchange = {
  kind: 'fault',
  fault: { cause: 'timeout', sent: false, detail: 'no time left to start' },
};

const NO_HTTP2 = { http2: 0, streams: 0 };

export interface EndpointSettings {
  /** What the log calls it. */
  readonly name: string;
  readonly url: string;
  /** For one exchange, from connecting to the last byte of the reply. */
  readonly timeoutMs: number;
  /** Open at a time, of those that are kept and of those that are not. */
  readonly connections: number;
  readonly http2: Http2Setting;
  readonly replyCheck: ReplyCheck;
  /** Names and values in turn; the same list for as long as they stay the same. */
  readonly headers: () => readonly string[];
  /** In lower case; `x-correlator` where absent. */
  readonly correlatorHeader?: string;
  /** Names and values in turn of headers that are made anew for each exchange. */
  readonly generatedHeaders?: (departure: Departure) => readonly string[];
}

/** The connections of one endpoint that are open now. */
export interface OpenConnections {
  /** Over HTTP/1.1, in use or kept. */
  readonly http1: number;
  /** Over TLS and HTTP/1.1, ready and unused. */
  readonly spare: number;
  readonly http2: number;
  /** Exchanges under way over HTTP/2. */
  readonly streams: number;
}

/** What the endpoints of an operator share. */
export interface SharedByEndpoints {
  readonly idleDetector: IdleDetector;
  readonly clock: Clock;
  readonly log: Log;
  /** What connections over TLS are made with. */
  readonly files: ConnectionFiles;
}

/**
 * One address of the operator, with connections of its own: a stray reply can only be that of another
 * exchange with the same endpoint, and one endpoint's trouble keeps no other waiting.
 *
 * Redirects are not followed, nothing is retried, cached or pipelined here.
 */
export class Endpoint implements Http2Fallback {
  /** Without its query, which may hold what an address does not show, and with the places for numbers in its path. */
  readonly address: string;
  readonly #name: string;
  /** With the query of its address. */
  readonly #path: string;
  /** What stands between that and a query of an exchange's own. */
  readonly #beforeQuery: '?' | '&';
  readonly #correlatorHeader: string;
  readonly #generatedHeaders: (departure: Departure) => readonly string[];
  readonly #timeoutMs: number;
  readonly #replyCheck: ReplyCheck;
  readonly #log: Log;
  readonly #version: HttpVersion;
  readonly #connector: TlsConnector | undefined;
  readonly #http1: Http1Connections;
  readonly #http2: Http2Connections | undefined;
  readonly #unsubscribe: () => void;

  constructor(settings: EndpointSettings, shared: SharedByEndpoints) {
    const { idleDetector, clock, log, files } = shared;
    const { name, timeoutMs, connections, http2, replyCheck } = settings;
    const url = new URL(settings.url);
    const headers = derived(settings.headers, (own) => ['accept', 'application/json', ...own]);
    const isSecure = url.protocol === 'https:';
    const onTimeout = ({ stage }: ConnectFailure): void =>
      log.warn('A connection was not made in time.', { endpoint: name, stage });
    const connector = isSecure
      ? new TlsConnector({ url, files, timeoutMs, clock, onTimeout })
      : undefined;
    this.address = (url.origin + url.pathname).replaceAll('%7B', '{').replaceAll('%7D', '}');
    this.#name = name;
    this.#path = url.pathname + url.search;
    this.#beforeQuery = url.search === '' ? '?' : '&';
    this.#correlatorHeader = settings.correlatorHeader ?? 'x-correlator';
    this.#generatedHeaders = settings.generatedHeaders ?? (() => []);
    this.#timeoutMs = timeoutMs;
    this.#replyCheck = replyCheck;
    this.#log = log;
    this.#connector = connector;
    this.#version = new HttpVersion(url, http2, clock);
    this.#http1 = new Http1Connections({
      url,
      connector,
      clock,
      idleDetector,
      headers,
      timeoutMs,
      connections,
    });
    this.#http2 =
      connector === undefined
        ? undefined
        : new Http2Connections({
            url,
            connector,
            headers,
            timeoutMs,
            maxConnections: connections,
            clock,
            fallback: this,
          });
    this.#unsubscribe = files.onChange(() => {
      this.#http1.renew();
      this.#http2?.renew();
    });
  }

  get connections(): OpenConnections {
    return { ...NO_HTTP2, ...this.#http1.open, ...this.#http2?.open };
  }

  /** Sends one request and reads its reply, in no more than `timeLeftMs`. Never rejects. */
  post(post: OutgoingRequest, timeLeftMs: number, departure: Departure): Promise<Exchange> {
    if (timeLeftMs <= 0) return Promise.resolve(NO_TIME);
    const { method = 'POST', path = this.#path, query = '', headers } = post;
    const { contentType, body, correlator, signal, onFirstByte } = post;
    const correlatorHeader = this.#correlatorHeader;
    const own = [correlatorHeader, correlator];
    const addressed: AddressedRequest = {
      method,
      path: query === '' ? path : `${path}${this.#beforeQuery}${query}`,
      correlatorHeader,
      headers: own.concat(this.#generatedHeaders(departure), headers),
      contentType,
      body,
      correlator,
      signal,
      onFirstByte,
    };
    const timeoutMs = Math.min(this.#timeoutMs, timeLeftMs);
    return new Promise((settle) => {
      const reader = new ReplyReader(addressed, departure, this.#replyCheck, timeoutMs, settle);
      if (!reader.isSettled) this.#carry(reader);
    });
  }

  /** A reply may have been that of another request: fresh connections until the endpoint echoes again. */
  distrust(): void {
    this.#replyCheck.distrust();
  }

  /** Breaks what is still under way and closes the connections. */
  async close(): Promise<void> {
    this.#unsubscribe();
    this.#http2?.close();
    const closing = this.#http1.close();
    this.#connector?.close();
    await closing;
  }

  choseHttp1(readers: readonly ReplyReader[], socket: TLSSocket): void {
    this.#version.choseHttp1();
    this.#http1.keepSpare(socket);
    this.left(readers);
  }

  replied(): void {
    this.#version.replied();
  }

  broke(isFinal: boolean, detail: string): boolean {
    const isLeft = this.#version.broke(isFinal);
    if (isLeft) {
      this.#log.warn('The operator offers HTTP/2 and breaks it. HTTP/1.1 is used instead.', {
        endpoint: this.#name,
        detail,
        minutes: HTTP1_FOR_MS / 60_000,
        setting: 'http2 of the profile: never',
      });
    }
    return isLeft;
  }

  left(readers: readonly ReplyReader[]): void {
    for (const reader of readers) this.#carry(reader);
  }

  #carry(reader: ReplyReader): void {
    if (this.#http2 !== undefined && this.#version.next === 'h2') this.#http2.carry(reader);
    else this.#http1.carry(reader, this.#replyCheck.needsFreshConnection);
  }
}

/** For so long HTTP/2 is not offered to a server that does not take it, or breaks it. */
export const HTTP1_FOR_MS = 10 * 60_000;

/** So many connections in a row that end without one reply, by the server's doing, are not bad luck. */
const MAX_BROKEN_CONNECTIONS = 2;

/** Which version of HTTP one endpoint is spoken to in, as far as is known. */
class HttpVersion {
  readonly #isOffered: boolean;
  readonly #clock: Clock;
  #http1UntilMs = -Infinity;
  #broken = 0;

  constructor(url: URL, setting: Http2Setting, clock: Clock) {
    // In plain text there is no ALPN to agree by.
    this.#isOffered = setting === 'auto' && url.protocol === 'https:';
    this.#clock = clock;
  }

  /** What the next exchange is to be sent by; with `h2` the server has the last word. */
  get next(): AlpnProtocol {
    return this.#isOffered && this.#clock.monotonicMs() >= this.#http1UntilMs ? 'h2' : 'http/1.1';
  }

  /** The server took HTTP/1.1, of both. */
  choseHttp1(): void {
    this.#http1UntilMs = this.#clock.monotonicMs() + HTTP1_FOR_MS;
  }

  /** A reply came by HTTP/2. */
  replied(): void {
    this.#broken = 0;
  }

  /**
   * The server broke HTTP/2 on a connection that brought no reply; `isFinal` where it says that it wants
   * none. Returns whether that is enough to leave HTTP/2 for a while.
   */
  broke(isFinal: boolean): boolean {
    this.#broken += 1;
    if (!isFinal && this.#broken < MAX_BROKEN_CONNECTIONS) return false;
    this.#broken = 0;
    this.choseHttp1();
    return true;
  }
}
