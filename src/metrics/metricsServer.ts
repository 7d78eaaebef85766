import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { Metrics } from './metrics.ts';

/** A scrape that takes longer is not one. */
const REQUEST_TIMEOUT_MS = 10_000;

/** Serves `/metrics`, and nothing else, on a port of its own: what may scrape is the network's to say. */
export class MetricsServer {
  readonly #server: Server;

  constructor(metrics: Pick<Metrics, 'text' | 'contentType'>) {
    this.#server = createServer(
      { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
      (request, response) => {
        const [path] = (request.url ?? '').split('?', 1);
        const isScrape = path === '/metrics' && /^(?:GET|HEAD)$/.test(request.method ?? '');
        if (!isScrape) {
          response.writeHead(404).end();
          return;
        }
        metrics.text().then(
          (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
          () => response.writeHead(500).end(),
        );
      },
    );
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
