import type { HTTPGraphQLRequest } from '@apollo/server';
import { ERRORS, type ErrorCode } from '../domain/errors.ts';
import type { ErrorReference } from './request.ts';

export type ReplyHeaders = Record<string, string>;

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

export type RequestReading =
  | {
      readonly kind: 'read';
      readonly request: HTTPGraphQLRequest;
      /** The id of the trusted document, where it is one. */
      readonly documentId?: string;
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** Why a request is not executed: a code, and what to do, for people. */
export interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  /** That of the code, where there is no better one. */
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal as a GraphQL response, in the media type that the client reads errors in. */
export function replyOf(
  refusal: Refusal,
  accept: string | undefined,
  reference?: ErrorReference,
): Reply {
  const { status, code, message = ERRORS[code].message, headers } = refusal;
  return {
    status,
    headers: { ...headers, 'content-type': `${replyMediaType(accept)}; charset=utf-8` },
    body: JSON.stringify({ errors: [{ message, extensions: { code, ...reference } }] }),
  };
}

/** A page for a browser. @param policy from where it may load what it shows */
export function pageOf(html: string, policy: string): Reply {
  return {
    status: 200,
    headers: { 'content-security-policy': policy, 'content-type': 'text/html; charset=utf-8' },
    body: Buffer.from(html),
  };
}

/**
 * What every response says to browsers, proxies and caches: nothing here is a page, and nothing may be
 * stored. No cookie is ever set. HSTS is left to the proxy that terminates TLS in front of the service.
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

type ReplyMediaType = typeof JSON_TYPE | typeof GRAPHQL_TYPE;

/** How a media type is wanted: as RFC 9110 §12.5.1 weighs it, then by how exactly and how early it is named. */
interface Wish {
  readonly quality: number;
  readonly exactness: number;
  readonly place: number;
}

/**
 * The media type in which a client wants its reply, read out of its header `accept`; `application/json`
 * where it says nothing, and where it wants neither. Pure.
 */
export function replyMediaType(accept = '*/*'): ReplyMediaType {
  const ranges = accept.split(',').map((range) => range.trim().toLowerCase());
  const isGraphql = isStronger(wishFor(GRAPHQL_TYPE, ranges), wishFor(JSON_TYPE, ranges));
  return isGraphql ? GRAPHQL_TYPE : JSON_TYPE;
}

/**
 * The status under which an operation is refused. GraphQL over HTTP has a well-formed operation answered with
 * 200 in `application/json`, whatever becomes of it: gateways take any other status for a failure of the
 * subgraph, and drop the code. In `application/graphql-response+json` the status says it.
 */
export function statusOfRefusal(accept: string | undefined, status: number): number {
  return replyMediaType(accept) === JSON_TYPE ? 200 : status;
}

function wishFor(type: string, ranges: readonly string[]): Wish {
  let wish: Wish = { quality: 0, exactness: 0, place: Infinity };
  for (const [place, range] of ranges.entries()) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    const exactness = exactnessOf(name, type);
    if (exactness <= wish.exactness) continue;
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    wish = { quality: quality === undefined ? 1 : Number(quality.slice(2)), exactness, place };
  }
  return wish;
}

function exactnessOf(name: string, type: string): number {
  switch (name) {
    case type:
      return 3;
    case `${type.split('/', 1)[0]}/*`:
      return 2;
    case '*/*':
      return 1;
    default:
      return 0;
  }
}

function isStronger(one: Wish, other: Wish): boolean {
  if (one.quality === 0) return false;
  if (one.quality !== other.quality) return one.quality > other.quality;
  if (one.exactness !== other.exactness) return one.exactness > other.exactness;
  return one.place < other.place;
}
