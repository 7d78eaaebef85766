import type { Clock } from '../../system/clock.ts';
import type { AlpnProtocol } from './tlsConnector.ts';

/** `http2 of the profile`: HTTP/2 where the server takes it by ALPN, or nowhere. */
export type Http2Setting = 'auto' | 'never';

/** For so long HTTP/2 is not offered to a server that does not take it, or breaks it. */
export const HTTP1_FOR_MS = 10 * 60_000;

/** So many connections in a row that end without one reply, by the server's doing, are not bad luck. */
const MAX_BROKEN_CONNECTIONS = 2;

/** Which version of HTTP one endpoint is spoken to in, as far as is known. */
export class HttpVersion {
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
