import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { wantsPage } from './explorer.ts';
import { FRONT_PAGE_SECURITY_POLICY } from './frontPage.ts';
import { setSecurityHeaders } from './securityHeaders.ts';

/** What /readyz says. */
type Readiness =
  | { readonly status: 'ready' | 'draining' }
  | { readonly status: 'starting'; readonly waitingFor: readonly string[] };

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Where the service listens, and what it serves. */
export interface HttpServerParts {
  readonly host: string;
  readonly port: number;
  readonly graphql: Handler;
  /** What a browser sees at `/`. */
  readonly frontPage: string;
  /** What answering still needs; /readyz fails while there is any. */
  waitingFor(): readonly string[];
  /** How long {@link HttpServer.close} waits for requests under way before it cuts them off. */
  readonly drainLimitMs: number;
  /** Told when a request broke in a way that nobody foresaw. */
  onDefect(defect: unknown): void;
}

/** Slow and idle connections are closed: a client has this long for its headers, and for all it sends. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const LARGEST_HEADERS_BYTES = 16 * 1024;

/** The service's HTTP side: /graphql, /livez, /readyz, and a page that names them. */
export class HttpServer {
  readonly #server: Server;
  readonly #parts: HttpServerParts;
  /** Under way: they may learn, until their headers leave, that their connection ends with them. */
  readonly #responses = new Set<ServerResponse>();
  #isDraining = false;

  constructor(parts: HttpServerParts) {
    this.#parts = parts;
    this.#server = createServer(
      {
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
        maxHeaderSize: LARGEST_HEADERS_BYTES,
        connectionsCheckingInterval: 1000,
      },
      this.#serve,
    );
  }

  /** Listens, and resolves to the address that it serves at. Rejects when the port is taken. */
  async listen(): Promise<string> {
    const { host, port } = this.#parts;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('It listens on no port.');
    const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
    return `http://${name}:${address.port}`;
  }

  /**
   * From now on /readyz says that no further requests should come here. They are still served, but each
   * is the last of its connection: whoever kept one would be cut off with it at the end.
   */
  refuseNewcomers(): void {
    this.#isDraining = true;
    for (const response of this.#responses) endConnectionAfter(response);
  }

  /** Takes no further connections, and resolves when every request has its answer, or the limit is over. */
  async close(): Promise<void> {
    this.refuseNewcomers();
    // A closed server of Node's looks after slow connections no more: one would hold it open for ever.
    const limit = setTimeout(() => {
      this.#server.closeAllConnections();
    }, this.#parts.drainLimitMs);
    await new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
      this.#server.closeIdleConnections();
    });
    clearTimeout(limit);
  }

  readonly #serve: RequestListener = (request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?', 1);
    this.#responses.add(response);
    response.once('close', () => this.#responses.delete(response));
    setSecurityHeaders(response);
    if (this.#isDraining) endConnectionAfter(response);
    switch (path) {
      case '/graphql':
        void this.#graphql(request, response);
        return;
      case '/livez':
        send(response, 200, { status: 'alive' });
        return;
      case '/readyz': {
        const readiness = this.#readiness();
        send(response, readiness.status === 'ready' ? 200 : 503, readiness);
        return;
      }
      default:
        if (path === '/' && wantsPage(request)) {
          sendPage(response, this.#parts.frontPage);
          return;
        }
        send(response, 404, { errors: [{ message: 'GraphQL is at /graphql.' }] });
    }
  };

  #readiness(): Readiness {
    if (this.#isDraining) return { status: 'draining' };
    const waitingFor = this.#parts.waitingFor();
    return waitingFor.length === 0 ? { status: 'ready' } : { status: 'starting', waitingFor };
  }

  async #graphql(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#parts.graphql(request, response);
    } catch (defect) {
      this.#parts.onDefect(defect);
      if (!response.headersSent)
        send(response, 500, { errors: [{ message: 'Internal server error' }] });
      else response.destroy();
    }
  }
}

function endConnectionAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body));
}

function sendPage(response: ServerResponse, page: string): void {
  response.setHeader('content-security-policy', FRONT_PAGE_SECURITY_POLICY);
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end(page);
}
