import { isIP } from 'node:net';
import type { OperatorProfile } from '../domain/profile.ts';

/** How a profile correlates exchanges; its header is in lower case once the profile is read. */
export type CorrelatorSettings = OperatorProfile['correlator'];

export interface LimitSettings {
  /** The limit for one exchange, from connecting to the last byte of the reply. */
  readonly timeoutMs: number;
  /**
   * Limits the open connections of an endpoint, and the lookups of an operation that are under way, each with its token
   * request.
   */
  readonly connections: number;
  /** The exchanges that may begin in a second over all endpoints, by the operator's contract; no limit where absent. */
  readonly requestsPerSecond?: number | undefined;
}

/** HTTP/2 where the server accepts it by ALPN, or never. */
export type Http2Setting = OperatorProfile['http2'];

/** A file is read again when it changes. */
export type TextSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'text'; readonly text: string };

/** TLS with a server, always of version 1.2 or later. */
export interface TlsSettings {
  /** Our certificate and its chain in PEM, ours first; requires a key. */
  readonly certificate?: TextSource | undefined;
  readonly key?: TextSource | undefined;
  /** The passphrase of the key, where that is encrypted. */
  readonly passphrase?: TextSource | undefined;
  /** The trusted authorities in PEM, in place of Node's. */
  readonly ca?: TextSource | undefined;
  /** The name in the server's certificate and in SNI, in place of the address's host. */
  readonly serverName?: string | undefined;
}

/** The proxy through which connections are made, by HTTP's CONNECT (RFC 9110 §9.3.6). */
export interface ProxySettings {
  /** `http://` or `https://`, host and port. */
  readonly url: string;
  /** `user:password`, sent to the proxy only (RFC 7617). */
  readonly credentials?: TextSource | undefined;
  /** The authorities that may sign the certificate of a proxy with `https://`, in place of Node's. */
  readonly ca?: TextSource | undefined;
}

/** How TLS connections to servers are made; not used for plain text on loopback. */
export interface ConnectionSettings {
  readonly tls?: TlsSettings | undefined;
  readonly proxy?: ProxySettings | undefined;
}

/** What is wrong with the address of a proxy, as the end of a sentence; `undefined` where nothing is. Pure. */
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

/** As {@link proxyProblem}, for the name in a certificate. Pure. */
export function serverNameProblem(text: string): string | undefined {
  const isName = text.length <= 253 && /^(?:[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d])?\.?)+$/i.test(text);
  return isName && isIP(text) === 0
    ? undefined
    : 'must be the name of a host, without scheme and port';
}

/** As {@link proxyProblem}, for an address to send requests to. It may be http on loopback, which nothing leaves. Pure. */
export function addressProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return 'must be an address that starts with http:// or https://';
  }
  if (url.username !== '' || url.password !== '' || /[?#]/.test(text)) {
    return 'must be an address without user, password, query and fragment';
  }
  return url.protocol !== 'http:' || isLoopback(url.hostname)
    ? undefined
    : 'must be an address that starts with https://, as it is not on this machine';
}

export function withoutLastSlash(address: string): string {
  return new URL(address).href.replace(/\/+$/, '');
}

/** Whether a host is loopback, whatever the resolver says. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}

/** A name of this machine, with any port (RFC 9110 §7.2). */
const OWN_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d*)?$/i;

export function isOwnHost(header: string | undefined): boolean {
  return OWN_HOST.test(header ?? '');
}
