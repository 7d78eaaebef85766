import { createServer, type IncomingMessage, type Server } from 'node:http';
import { once } from 'node:events';
import type { Metrics } from './metrics.ts';

/** A scrape that takes longer is not one. */
const REQUEST_TIMEOUT_MS = 10_000;

/** Serves `/metrics`, and nothing else, on a port of its own: what may scrape is the network's to say. */
export class MetricsServer {
  readonly #server: Server;

  /** @param isAllowed refuses a request by its headers */
  constructor(
    metrics: Pick<Metrics, 'text' | 'contentType'>,
    isAllowed: (request: IncomingMessage) => boolean,
  ) {
    this.#server = createServer(
      { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
      (request, response) => {
        const [path] = (request.url ?? '').split('?', 1);
        const isScrape = path === '/metrics' && /^(?:GET|HEAD)$/.test(request.method ?? '');
        if (!isScrape) {
          response.writeHead(404).end();
          return;
        }
        if (!isAllowed(request)) {
          response.writeHead(421).end();
          return;
        }
        metrics.text().then(
          (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
          () => response.writeHead(500).end(),
        );
      },
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
}
