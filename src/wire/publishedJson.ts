import { Pool, type Dispatcher } from 'undici';
import { namedError } from '../domain/errors.ts';
import type { Clock } from '../system/clock.ts';
import { ConnectionFiles, type ConnectionFilesParts } from './connectionFiles.ts';
import type { ConnectionSettings } from './wireSettings.ts';
import { handTo } from './http1Connections.ts';
import { flawIn } from './json.ts';
import { TlsConnector } from './tlsConnector.ts';

const TIMEOUT_MS = 5000;
/** Shorter than the limit of the exchange, so that the error of a connection that hangs has its stage. */
const CONNECT_TIMEOUT_MS = 4000;
const MAX_BYTES = 256 * 1024;

/** The connection to an address that is not an operator's. Redirects and proxies of the environment are ignored. */
export class SingleConnection {
  readonly #pool: Pool;
  readonly #path: string;
  readonly #connector: TlsConnector | undefined;
  readonly #files: Readonly<ConnectionFiles>;

  constructor(
    address: string,
    connection: ConnectionSettings,
    parts: ConnectionFilesParts & { readonly clock: Clock },
    { timeoutMs, maxResponseSize }: { timeoutMs: number; maxResponseSize: number },
  ) {
    const url = new URL(address);
    const files = new ConnectionFiles(connection, parts);
    const { clock } = parts;
    const connector =
      url.protocol === 'https:' ? new TlsConnector({ url, files, timeoutMs, clock }) : undefined;
    this.#files = files;
    this.#connector = connector;
    this.#path = `${url.pathname}${url.search}`;
    this.#pool = new Pool(url.origin, {
      connections: 1,
      connect:
        connector === undefined
          ? { timeout: timeoutMs }
          : (_, callback) => connector.connect(['http/1.1'], handTo(callback)),
      maxResponseSize,
    });
  }

  request(
    options: Omit<Dispatcher.RequestOptions, 'path' | 'signal'> & { readonly signal: AbortSignal },
  ): Promise<Dispatcher.ResponseData> {
    return this.#pool.request({ ...options, path: this.#path });
  }

  close(): Promise<void> {
    const closing = this.#pool.destroy();
    this.#connector?.close();
    this.#files.close();
    return closing;
  }
}

export class PublishedJson {
  readonly #connection: SingleConnection;

  constructor(
    address: string,
    connection: ConnectionSettings,
    parts: ConnectionFilesParts & { readonly clock: Clock },
  ) {
    const limits = { timeoutMs: CONNECT_TIMEOUT_MS, maxResponseSize: MAX_BYTES };
    this.#connection = new SingleConnection(address, connection, parts, limits);
  }

  /** Fetches the document. Rejects when there is no 200 with JSON within five seconds. */
  async fetch(): Promise<unknown> {
    const { statusCode, body } = await this.#connection.request({
      method: 'GET',
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (statusCode !== 200) {
      await body.dump();
      throw namedError(`status ${statusCode}`);
    }
    const text = await body.text();
    const document: unknown = JSON.parse(text);
    const flaw = flawIn(text);
    if (flaw !== undefined) throw namedError(flaw);
    return document;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
