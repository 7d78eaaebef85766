import type { IncomingMessage } from 'node:http';
import type { Reply, ReplyHeaders } from './reply.ts';

/** What pages of other origins may send in addition to what every page may. */
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

/** What they may read in addition to what every page may. */
const EXPOSED_HEADERS =
  'preference-applied, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-correlator';

/** How long a browser may keep the reply to a preflight; most keep it for less. */
const MAX_AGE_SECONDS = 7200;

/**
 * The Fetch standard's CORS protocol: adds the headers that let a page of a listed origin read the reply. No cookies:
 * tokens are headers. Returns the reply to a preflight; `undefined` for any other request, and for other origins.
 */
export function admitOrigin(
  origins: readonly string[],
  { method, headers }: IncomingMessage,
  replied: ReplyHeaders,
): Reply | undefined {
  const { origin } = headers;
  replied['vary'] = 'origin';
  if (origin === undefined || !origins.includes(origin)) return undefined;
  replied['access-control-allow-origin'] = origin;
  replied['access-control-expose-headers'] = EXPOSED_HEADERS;
  const isPreflight =
    method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
  return isPreflight ? PREFLIGHT : undefined;
}

const PREFLIGHT: Reply = {
  status: 204,
  headers: {
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': ALLOWED_HEADERS,
    'access-control-max-age': String(MAX_AGE_SECONDS),
  },
  body: '',
};
