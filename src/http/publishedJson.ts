import { Pool } from 'undici';

const TIMEOUT_MS = 5000;
const MAX_BYTES = 256 * 1024;

/** The reply has a status other than 200. */
export class UnexpectedStatus extends Error {
  override readonly name = 'UnexpectedStatus';
  readonly statusCode: number;

  constructor(statusCode: number) {
    super(`The reply has status ${statusCode}.`);
    this.statusCode = statusCode;
  }
}

/** Where a JSON document is published: keys, or what is known of a server. No redirect is followed, and no proxy of the environment is used. */
export class PublishedJson {
  readonly #pool: Pool;
  readonly #path: string;

  constructor(url: string) {
    const { origin, pathname, search } = new URL(url);
    this.#path = `${pathname}${search}`;
    this.#pool = new Pool(origin, {
      connections: 1,
      connect: { timeout: TIMEOUT_MS },
      maxResponseSize: MAX_BYTES,
    });
  }

  /** Fetches the document. Rejects when there is no 200 with JSON within five seconds. */
  async fetch(): Promise<unknown> {
    const { statusCode, body } = await this.#pool.request({
      path: this.#path,
      method: 'GET',
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (statusCode !== 200) {
      await body.dump();
      throw new UnexpectedStatus(statusCode);
    }
    return body.json();
  }

  /** Aborts a fetch under way and closes the connection. */
  close(): Promise<void> {
    return this.#pool.destroy();
  }
}
