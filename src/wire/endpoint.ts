import type { TLSSocket } from 'node:tls';
import type { Clock } from '../system/clock.ts';
import type { Urgency } from '../system/urgency.ts';
import type { Log } from '../log/log.ts';
import type { ReplyCheck } from './echo.ts';
import { notBegun, type Departure, type Exchange, type OutgoingRequest } from './exchange.ts';
import type { ConnectFailure } from './connectFailure.ts';
import type { ConnectionFiles } from './connectionFiles.ts';
import { Http1Connections, type ConnectionsParts } from './http1Connections.ts';
import { Http2Connections, type Http2Fallback } from './http2Connections.ts';
import type { IdleDetector } from './spareConnections.ts';
import type { Http2Setting } from './wireSettings.ts';
import { TlsConnector } from './tlsConnector.ts';
import { ReplyReader } from './replyReader.ts';

/** The deadline passed before the exchange began, which is not a failure of the endpoint. */
export const EXCHANGE_DEADLINE_EXCEEDED = notBegun('timeout', 'no time left to start');
export const CANCELLED = notBegun('cancelled', 'the request ended');

/** For this time HTTP/2 is not offered to a server that does not accept it, or whose HTTP/2 does not work. */
export const HTTP1_FOR_MS = 10 * 60_000;

const NO_HTTP2 = { http2: 0, streams: 0 };

export interface EndpointSettings extends Pick<
  ConnectionsParts,
  'timeoutMs' | 'connections' | 'headers'
> {
  readonly name: string;
  readonly url: string;
  readonly http2: Http2Setting;
  readonly replyCheck: ReplyCheck;
  /** In lower case; `x-correlator` where absent. */
  readonly correlatorHeader?: string;
  /** Names and values in turn of headers that are made for each exchange. */
  readonly generatedHeaders?: (departure: Departure) => readonly string[];
}

/** Connections that are open now: `http1` in use or kept, `spare` ready and unused. */
export type OpenConnections = Readonly<Record<'http1' | 'spare' | 'http2' | 'streams', number>>;

export interface SharedByEndpoints {
  readonly idleDetector: IdleDetector;
  readonly clock: Clock;
  readonly log: Log;
  readonly files: Readonly<ConnectionFiles>;
}

/**
 * One address of the operator, with its own connections: a stray reply can only belong to another exchange with the same
 * endpoint, and a slow endpoint does not delay others. Redirects are not followed; nothing is retried or pipelined.
 */
export class Endpoint implements Http2Fallback {
  /** Without the query, which may be confidential, and with placeholders for numbers in the path. */
  readonly address: string;
  readonly #settings: EndpointSettings;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #path: string;
  readonly #beforeQuery: '?' | '&';
  readonly #connector: TlsConnector | undefined;
  readonly #http1: Http1Connections;
  /** `undefined` in plain text as well, which has no ALPN. */
  readonly #http2: Http2Connections | undefined;
  readonly #unsubscribe: () => void;
  #http1UntilMs = -Infinity;

  constructor(settings: EndpointSettings, shared: SharedByEndpoints) {
    const { clock, log, files, idleDetector } = shared;
    const { name, timeoutMs, connections, headers } = settings;
    const url = new URL(settings.url);
    this.address = (url.origin + url.pathname).replaceAll('%7B', '{').replaceAll('%7D', '}');
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
    this.#path = url.pathname + url.search;
    this.#beforeQuery = url.search === '' ? '?' : '&';
    const correlatorHeader = settings.correlatorHeader ?? 'x-correlator';
    const onTimeout = ({ stage }: ConnectFailure): void =>
      log.warn('A connection was not made in time.', { endpoint: name, stage });
    const connector =
      url.protocol === 'https:'
        ? new TlsConnector({ url, files, timeoutMs, clock, onTimeout })
        : undefined;
    const parts = { url, clock, headers, correlatorHeader, timeoutMs, connections };
    this.#connector = connector;
    this.#http1 = new Http1Connections({ ...parts, connector, idleDetector });
    if (connector !== undefined && settings.http2 === 'auto') {
      this.#http2 = new Http2Connections({ ...parts, connector, fallback: this });
    }
    this.#unsubscribe = files.onChange(() => {
      this.#http1.renew();
      this.#http2?.renew();
    });
  }

  get connections(): OpenConnections {
    return { ...NO_HTTP2, ...this.#http1.open, ...this.#http2?.open };
  }

  /** Sends one request and reads its reply, by the deadline and within the endpoint's own time limit. Never rejects. */
  post(
    post: OutgoingRequest,
    { deadlineMs, isShared = false }: Omit<Urgency, 'signal'>,
  ): Promise<Exchange> {
    const departure = { sentAtMs: this.#clock.nowMs(), leftAtMs: this.#clock.monotonicMs() };
    const timeLeftMs = deadlineMs - departure.leftAtMs;
    if (timeLeftMs <= 0) return Promise.resolve(EXCHANGE_DEADLINE_EXCEEDED);
    if (post.signal?.aborted === true) return Promise.resolve(CANCELLED);
    const { replyCheck, generatedHeaders, timeoutMs } = this.#settings;
    const wholePath = this.#pathOf(post);
    const generated = generatedHeaders?.(departure) ?? NO_HEADERS;
    const limitMs = isShared ? timeoutMs : Math.min(timeoutMs, timeLeftMs);
    const { promise, resolve } = Promise.withResolvers<Exchange>();
    this.#carry(
      new ReplyReader(post, wholePath, generated, departure, replyCheck, limitMs, resolve),
    );
    return promise;
  }

  /** Where a request goes, with its query. */
  urlOf(post: OutgoingRequest): string {
    return new URL(this.address).origin + this.#pathOf(post);
  }

  /** A reply may have belonged to another request: fresh connections are taken until the endpoint echoes again. */
  distrust(): void {
    this.#settings.replyCheck.distrust();
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    this.#http2?.close();
    const closing = this.#http1.close();
    this.#connector?.close();
    await closing;
  }

  choseHttp1(readers: readonly ReplyReader[], socket: TLSSocket): void {
    this.#http1.keepSpare(socket);
    this.#leaveHttp2(readers);
  }

  brokeHttp2(readers: readonly ReplyReader[], detail: string): void {
    this.#log.warn('The operator offers HTTP/2, which does not work: HTTP/1.1 is used instead.', {
      endpoint: this.#settings.name,
      detail,
      minutes: HTTP1_FOR_MS / 60_000,
      setting: 'http2 of the profile: never',
    });
    this.#leaveHttp2(readers);
  }

  #pathOf({ path = this.#path, query = '' }: OutgoingRequest): string {
    return query === '' ? path : path + this.#beforeQuery + query;
  }

  #leaveHttp2(readers: readonly ReplyReader[]): void {
    this.#http1UntilMs = this.#clock.monotonicMs() + HTTP1_FOR_MS;
    for (const reader of readers) this.#carry(reader);
  }

  #carry(reader: ReplyReader): void {
    if (this.#http2 !== undefined && this.#clock.monotonicMs() >= this.#http1UntilMs) {
      this.#http2.carry(reader);
    } else {
      this.#http1.carry(reader, this.#settings.replyCheck.needsFreshConnection);
    }
  }
}

const NO_HEADERS: readonly string[] = [];
