import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { Clock } from '../system/clock.ts';
import type { Config } from '../config/config.ts';
import { isLoopback, isOwnHost } from '../http/address.ts';
import { replyOf, type Refusal, type Reply, setSecurityHeaders } from '../graphql/reply.ts';
import type { Metrics } from './metrics.ts';

/** A scrape that takes longer is not one. */
const REQUEST_TIMEOUT_MS = 10_000;

/** Answers a scrape. */
export type Scrape = (request: IncomingMessage) => Promise<Reply>;

/** A text takes up to a millisecond, and whoever reaches the port may ask for it without an end. */
const TEXT_KEPT_MS = 1000;

/** Where others reach the port anyway, the network decides who may scrape. */
export function scrapeOf(
  metrics: Pick<Metrics, 'text' | 'contentType'>,
  { listen }: Pick<Config, 'listen'>,
  clock: Pick<Clock, 'monotonicMs'>,
): Scrape {
  let kept: { readonly text: Promise<string>; readonly madeAtMs: number } | undefined;
  const text = (): Promise<string> => {
    const nowMs = clock.monotonicMs();
    if (kept === undefined || nowMs - kept.madeAtMs >= TEXT_KEPT_MS) {
      kept = { text: metrics.text(), madeAtMs: nowMs };
    }
    return kept.text;
  };
  return async ({ headers: { host, accept } }) => {
    // A page of another site whose name leads to this machine sends that name.
    if (isLoopback(listen.host) && !isOwnHost(host)) return replyOf(FOREIGN, accept);
    const body = await text();
    return { status: 200, headers: { 'content-type': metrics.contentType }, body };
  };
}

const FOREIGN: Refusal = {
  status: 421,
  code: 'BAD_REQUEST',
  message: 'This port does not answer under the host that the request names. Ask it at localhost.',
};

/** Serves `/metrics` and nothing else, on a port of its own. */
export class MetricsServer {
  readonly #server: Server;
  readonly #scrape: Scrape;

  constructor(scrape: Scrape) {
    this.#scrape = scrape;
    this.#server = createServer(
      { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
      (request, response) => void this.#serve(request, response),
    );
    // A client that does not read its answer, or sends nothing more, holds a connection so long and no longer.
    this.#server.setTimeout(REQUEST_TIMEOUT_MS);
  }

  /** Rejects when the port is taken. */
  async listen(host: string, port: number): Promise<number> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    const address = this.#server.address();
    return address === null || typeof address === 'string' ? port : address.port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    setSecurityHeaders(response);
    const [path = '/'] = (request.url ?? '/').split('?', 1);
    if (path !== '/metrics' || !/^(?:GET|HEAD)$/.test(request.method ?? '')) {
      response.writeHead(404).end();
      return;
    }
    try {
      const { status, headers, body } = await this.#scrape(request);
      response.writeHead(status, headers).end(body);
    } catch {
      response.writeHead(500).end();
    }
  }
}
