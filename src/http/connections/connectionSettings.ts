import { isIP } from 'node:net';

/** A text of the settings: in a file, which is read again when it changes, or as it is. */
export type TextSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'text'; readonly text: string };

/** How TLS is agreed on with a server, beside TLS 1.2 at least, which always holds. */
export interface TlsSettings {
  /** Shows who we are: one or more certificates in PEM, ours first. It has a key. */
  readonly certificate?: TextSource | undefined;
  /** The private key of the certificate, in PEM. */
  readonly key?: TextSource | undefined;
  /** Of the key, where it is encrypted. */
  readonly passphrase?: TextSource | undefined;
  /** The authorities that are trusted, in PEM, in the place of those that Node trusts. */
  readonly ca?: TextSource | undefined;
  /** What the server's certificate must be for, and what it is asked for, in the place of the address's host. */
  readonly serverName?: string | undefined;
}

/** The proxy through which connections are made, by HTTP's CONNECT (RFC 9110 §9.3.6). */
export interface ProxySettings {
  /** `http://` or `https://`, host and port. */
  readonly url: string;
  /** `user:password`, sent to the proxy alone (RFC 7617). */
  readonly credentials?: TextSource | undefined;
  /** The authorities that may sign the certificate of a proxy with `https://`, in place of Node's. */
  readonly ca?: TextSource | undefined;
}

/** How connections to servers are made, beside their addresses: of TLS, so not to those without it on loopback. */
export interface ConnectionSettings {
  readonly tls?: TlsSettings | undefined;
  readonly proxy?: ProxySettings | undefined;
}

/** Why a text is no address of a proxy, as the end of a sentence; `undefined` where it is one. Pure. */
export function proxyProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return 'must be the address of a proxy that starts with http:// or https://';
  }
  if (url.username !== '' || url.password !== '') {
    return 'must be without user and password: they belong in a separate file';
  }
  return url.pathname === '/' && !/[?#]/.test(text)
    ? undefined
    : 'must be only scheme, host and port, without path, query and fragment';
}

/** Why a text is no name that a certificate is for, as the end of a sentence; `undefined` where it is one. Pure. */
export function serverNameProblem(text: string): string | undefined {
  const isName = text.length <= 253 && /^(?:[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d])?\.?)+$/i.test(text);
  return isName && isIP(text) === 0
    ? undefined
    : 'must be the name of a host, without scheme and port';
}

/** The connections of one endpoint that are open now. */
export interface OpenConnections {
  /** Over HTTP/1.1, in use or kept. */
  readonly http1: number;
  /** Over TLS and HTTP/1.1, ready and unused. */
  readonly spare: number;
  readonly http2: number;
  /** Exchanges under way over HTTP/2. */
  readonly streams: number;
}

/**
 * A connection that is never idle lives until something breaks it: what has changed since it was made (where
 * the name leads to, the server's certificate) never takes effect. After so long another takes its place.
 */
export const MAX_CONNECTION_AGE_MS = 10 * 60_000;
