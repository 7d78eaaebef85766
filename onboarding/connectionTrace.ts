import type { ConnectStage } from '../src/wire/connectFailure.ts';
import type { AlpnProtocol } from '../src/wire/tlsConnector.ts';

/** Where a connection leads: the host and port of an address. */
export interface Place {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

/** What the handshake showed of a server whose certificate is trusted. */
export interface TlsFacts {
  /** For example `TLSv1.3`. */
  readonly version: string;
  /** Agreed on by ALPN. */
  readonly protocol: AlpnProtocol;
  /** When the certificate expires, in milliseconds since 1970. */
  readonly validToMs: number;
}

/** How far a connection came. */
export interface ConnectionTrace {
  readonly place: Place;
  /** The proxy that it goes through, which resolves the name. */
  readonly proxy?: Place | undefined;
  /** How many addresses the name has. */
  readonly addresses: number;
  readonly tls?: TlsFacts;
  /** Where it broke, by the code of Node, OpenSSL or undici; absent where it was made. */
  readonly broke?: { readonly stage: ConnectStage; readonly code: string };
}

/** The place as `api.operator.example:443`. Pure. */
export function placeText({ host, port }: Place): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Where requests to an address go. Pure. */
export function placeOf(address: string): Place {
  const { hostname, port, protocol } = new URL(address);
  const isSecure = protocol === 'https:';
  const usual = isSecure ? 443 : 80;
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? usual : Number(port),
    isSecure,
  };
}

/** A code as the table shows it. Pure. */
export function codeText(code: string): string {
  return TIMED_OUT.has(code) ? 'no answer in time' : code;
}

const TIMED_OUT: ReadonlySet<string> = new Set(['timeout', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);
