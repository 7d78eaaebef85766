import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { Reply } from './graphql/reply.ts';
import { setSecurityHeaders } from './graphql/securityHeaders.ts';

/** A scrape, or a look, that takes longer is not one. */
const REQUEST_TIMEOUT_MS = 10_000;

/** What is answered at a path; it decides for itself who may see it. */
export type Look = (request: IncomingMessage) => Promise<Reply>;

/** By path. */
export type Looks = ReadonlyMap<string, Look>;

/** Serves what those who run the service look at, and nothing else, on a port of its own. */
export class ObservationServer {
  readonly #server: Server;
  readonly #looks: Looks;

  constructor(looks: Looks) {
    this.#looks = looks;
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
    const look = this.#looks.get(path);
    if (look === undefined || !/^(?:GET|HEAD)$/.test(request.method ?? '')) {
      response.writeHead(404).end();
      return;
    }
    try {
      const { status, headers, body } = await look(request);
      response.writeHead(status, headers).end(body);
    } catch {
      response.writeHead(500).end();
    }
  }
}
