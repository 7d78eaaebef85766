import { Pool } from 'undici';
import { errorReply, type Reply } from './reply.ts';

/** One page of numbers with a document, several times over. */
export const MAX_BODY_BYTES = 256 * 1024;

/** What the service would answer at most, and what the gateway adds. */
const MAX_REPLY_BYTES = 8 * 1024 * 1024;

/** Longer than the gateway's own limit: let that be the one who says so. */
const TIMEOUT_MS = 15_000;

/** What of a reply the page may know, beside its body. */
const PASSED_ON = ['content-type', 'ratelimit', 'ratelimit-policy', 'retry-after'] as const;

/** An operation as the page sent it, and what the desk adds. */
export interface Operation {
  readonly body: Uint8Array;
  readonly accessToken: string;
  readonly purpose: string;
  /** By which the service's log names the operation. */
  readonly correlator: string | undefined;
  /** Aborted when the page cancels: the request to the gateway ends with it, and so do the lookups. */
  readonly signal: AbortSignal;
}

/** The supergraph. Of what a browser sends it gets only the body. */
export class Gateway {
  readonly #pool: Pool;
  readonly #path: string;

  constructor(url: string) {
    const { origin, pathname } = new URL(url);
    this.#path = pathname;
    this.#pool = new Pool(origin, {
      connections: 64,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
  }

  /** The gateway's reply as it is. Rejects only with the reason of the signal. */
  async ask({ body, accessToken, purpose, correlator, signal }: Operation): Promise<Reply> {
    try {
      const reply = await this.#pool.request({
        path: this.#path,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/graphql-response+json, application/json;q=0.9',
          authorization: `Bearer ${accessToken}`,
          'x-purpose': purpose,
          ...(correlator === undefined ? {} : { 'x-correlator': correlator }),
        },
        body,
        signal,
      });
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of reply.body as AsyncIterable<Uint8Array>) {
        bytes += chunk.length;
        if (bytes > MAX_REPLY_BYTES) return TOO_LONG;
        chunks.push(chunk);
      }
      return {
        status: reply.statusCode,
        headers: Object.fromEntries(
          PASSED_ON.flatMap((name) => {
            const value = reply.headers[name];
            return value === undefined ? [] : [[name, value]];
          }),
        ),
        body: Buffer.concat(chunks),
      };
    } catch {
      signal.throwIfAborted();
      return NOT_REACHED;
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

const TOO_LONG = errorReply(502, 'UNAVAILABLE', 'The answer is too long. Check fewer numbers.');

const NOT_REACHED = errorReply(
  504,
  'UNAVAILABLE',
  'The graph cannot be reached at the moment. Try again later.',
);
