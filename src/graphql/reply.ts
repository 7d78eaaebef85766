import type { HTTPGraphQLRequest } from '@apollo/server';
import { ERRORS, type ErrorCode } from '../domain/errors.ts';
import type { ErrorReference } from './request.ts';
import { replyMediaType } from './mediaType.ts';

/** The headers of a response, by their names in small letters, as long as they are gathered. */
export type ReplyHeaders = Record<string, string>;

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** The operation that a request asks for, or why it is not executed. */
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
