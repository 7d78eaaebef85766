import { ERRORS, type ErrorCode } from '../domain/errors.ts';
import type { ErrorReference } from './request.ts';

export type ReplyHeaders = Record<string, string>;

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** Why a request is not executed: a code, and what to do, for people. */
export interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  /** The message of the code where absent. */
  readonly message?: string;
  /** Members of the error in addition to the code. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal as a GraphQL response, in the media type in which the client reads errors. */
export function replyOf(
  refusal: Refusal,
  accept: string | undefined,
  reference?: ErrorReference,
): Reply {
  const { status, code, message = ERRORS[code], details, headers } = refusal;
  return {
    status,
    headers: {
      ...headers,
      'content-type': `${replyMediaType(accept) ?? JSON_TYPE}; charset=utf-8`,
    },
    body: JSON.stringify({ errors: [{ message, extensions: { code, ...details, ...reference } }] }),
  };
}

/** A page for a browser. @param policy the sources from which it may load */
export function pageOf(html: string, policy: string): Reply {
  return {
    status: 200,
    headers: { 'content-security-policy': policy, 'content-type': 'text/html; charset=utf-8' },
    body: Buffer.from(html),
  };
}

/**
 * The headers of every response for browsers, proxies and caches: nothing here is a page, and nothing may be stored. No
 * cookie is ever set. HSTS is left to the proxy that terminates TLS in front of the service.
 */
export const SECURITY_HEADERS: Readonly<ReplyHeaders> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = 'application/graphql-response+json';

export type ReplyMediaType = typeof JSON_TYPE | typeof GRAPHQL_TYPE;

/**
 * The media type in which a client wants its reply, by its header `accept` (RFC 9110 §12.5.1): of two that are equally
 * preferred, the one that is named more exactly, then the earlier one. `undefined` where neither is accepted. Pure.
 */
export function replyMediaType(accept = '*/*'): ReplyMediaType | undefined {
  // An empty header states no preference (RFC 9110 §12.5.1 allows an empty list).
  if (accept === '' || accept === '*/*' || accept === JSON_TYPE) return JSON_TYPE;
  const ranges = accept.split(',').map((range, place) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1;
    return { name, quality: Number(quality), place };
  });
  const preferences = ([JSON_TYPE, GRAPHQL_TYPE] as const).flatMap((type) => {
    const names = ['*/*', 'application/*', type];
    const [range] = ranges
      .map((one) => ({ ...one, type, exactness: names.indexOf(one.name) }))
      .filter(({ exactness }) => exactness >= 0)
      .toSorted((one, other) => other.exactness - one.exactness);
    return range !== undefined && range.quality > 0 ? [range] : [];
  });
  const [best] = preferences.toSorted(
    (one, other) =>
      other.quality - one.quality || other.exactness - one.exactness || one.place - other.place,
  );
  return best?.type;
}

/**
 * The status of a refused operation: 200 in `application/json` (GraphQL over HTTP), since gateways take any other
 * status for a failure of the subgraph, and drop the code. In `application/graphql-response+json` it is the refusal's
 * own.
 */
export function statusOfRefusal(accept: string | undefined, status: number): number {
  return replyMediaType(accept) === GRAPHQL_TYPE ? status : 200;
}
