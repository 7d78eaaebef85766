import type { IncomingMessage } from 'node:http';

/** What pages of other origins may send beside what every page may. */
const ALLOWED_HEADERS = [
  'authorization',
  'content-type',
  'prefer',
  'x-correlator',
  'x-purpose',
  'apollo-require-preflight',
  'x-apollo-operation-name',
  'apollographql-client-name',
  'apollographql-client-version',
].join(', ');

/** What they may read beside what every page may. */
const EXPOSED_HEADERS =
  'preference-applied, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-correlator';

/** For so long a browser need not ask again: most keep an answer no longer. */
const MAX_AGE_SECONDS = 7200;

/** The Fetch standard's CORS protocol, for the origins that are listed. No cookies: tokens are headers. */
export class CrossOrigin {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  /** The headers that let a page of a listed origin read the reply. */
  headersFor({ headers: { origin } }: IncomingMessage): ReadonlyMap<string, string> {
    const headers = new Map<string, string>();
    if (this.#origins.size === 0) return headers;
    headers.set('vary', 'origin');
    if (origin === undefined || !this.#origins.has(origin)) return headers;
    headers.set('access-control-allow-origin', origin);
    headers.set('access-control-expose-headers', EXPOSED_HEADERS);
    return headers;
  }

  /** The headers that answer a preflight; `undefined` when the request is none, or comes from elsewhere. */
  preflight({ method, headers }: IncomingMessage): Readonly<Record<string, string>> | undefined {
    const isPreflight =
      method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
    if (!isPreflight || headers.origin === undefined) return undefined;
    if (!this.#origins.has(headers.origin)) return undefined;
    return {
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': ALLOWED_HEADERS,
      'access-control-max-age': String(MAX_AGE_SECONDS),
    };
  }
}
