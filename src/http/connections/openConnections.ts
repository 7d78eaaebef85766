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
