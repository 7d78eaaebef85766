import { Pool, type Dispatcher } from 'undici';
import type { OperatorAddress } from '../processes/competing.ts';
import type { RawConnections } from './contestant.ts';
import { CLIENT_AUTHORIZATION, tokenForm, type SCOPES } from './schema.ts';

/** As many at a time as ours: more slow every contestant down. */
const PERMITS = 256;
/** A server allows 128 streams on each, or fewer: so many carry as many exchanges as there are permits. */
const HTTP2_CONNECTIONS = 3;

/** What is asked of the operator. */
export interface Lookup {
  readonly operation: keyof typeof SCOPES;
  readonly body: { readonly phoneNumber: string; readonly maxAge?: number };
}

/** Connections outlast other contestants' turns, as ours do where the operator lets them. */
const KEEP_ALIVE_MS = 600_000;

/**
 * The limit: undici's `dispatch` makes the exchanges, with nothing around them. The reply's JSON is read, and
 * its origin is not checked.
 */
export class DispatchedLookups {
  readonly #tokens: Pool;
  readonly #lookups: Pool;
  readonly #takesFreshForLookups: boolean;
  readonly #prefix = crypto.randomUUID().slice(0, 12);
  #sent = 0;

  constructor({ authUrl, simSwapUrl }: OperatorAddress, connections: RawConnections) {
    const isHttp2 = connections === 'HTTP/2';
    const options = {
      connections: isHttp2 ? HTTP2_CONNECTIONS : PERMITS,
      allowH2: isHttp2,
      keepAliveTimeout: KEEP_ALIVE_MS,
    };
    this.#tokens = new Pool(authUrl, options);
    this.#lookups = new Pool(new URL(simSwapUrl).origin, options);
    this.#takesFreshForLookups = connections === 'fresh for lookups';
  }

  /** Looks all of these up, `PERMITS` at a time, as a limiter without a queue of its own would. */
  async all(lookups: readonly Lookup[]): Promise<Record<string, unknown>[]> {
    const answers: Record<string, unknown>[] = [];
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let index = next++; index < lookups.length; index = next++) {
        answers[index] = await this.#pair(lookups[index] as Lookup);
      }
    };
    await Promise.all(Array.from({ length: Math.min(PERMITS, lookups.length) }, worker));
    return answers;
  }

  async #pair({ operation, body }: Lookup): Promise<Record<string, unknown>> {
    const token = await this.#post(
      this.#tokens,
      '/oauth/v1/token',
      ['content-type', 'application/x-www-form-urlencoded', 'authorization', CLIENT_AUTHORIZATION],
      tokenForm(body.phoneNumber, operation),
      false,
    );
    const authorization = `Bearer ${String(token['access_token'])}`;
    return this.#post(
      this.#lookups,
      `/sim-swap/v1/${operation}`,
      ['content-type', 'application/json', 'authorization', authorization],
      JSON.stringify(body),
      this.#takesFreshForLookups,
    );
  }

  #post(
    pool: Pool,
    path: string,
    headers: string[],
    body: string,
    reset: boolean,
  ): Promise<Record<string, unknown>> {
    headers.push('accept', 'application/json', 'x-correlator', `${this.#prefix}-${++this.#sent}`);
    return new Promise((resolve, reject) => {
      pool.dispatch(
        { path, method: 'POST', headers, body, reset },
        new ReplyReader(resolve, reject),
      );
    });
  }
}

class ReplyReader implements Dispatcher.DispatchHandler {
  readonly #resolve: (body: Record<string, unknown>) => void;
  readonly #reject: (error: Error) => void;
  #status = 0;
  readonly #chunks: Buffer[] = [];

  constructor(resolve: (body: Record<string, unknown>) => void, reject: (error: Error) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(): void {}

  onResponseStart(_controller: unknown, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#status !== 200) this.#reject(new Error(`HTTP ${this.#status}`));
    else
      this.#resolve(JSON.parse(Buffer.concat(this.#chunks).toString()) as Record<string, unknown>);
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#reject(error);
  }
}
