/** One server of the operator's: what it speaks, and where it echoes `x-correlator`. */
export interface Wire {
  readonly protocol: 'HTTP/1.1' | 'HTTP/1.1 over TLS' | 'HTTP/2 over TLS';
  readonly echoes: { readonly tokens: boolean; readonly lookups: boolean };
}

/** Every server of the operator's. They share its tokens, and nothing else. */
export const WIRES = {
  plain: { protocol: 'HTTP/1.1', echoes: { tokens: true, lookups: true } },
  echo: { protocol: 'HTTP/1.1 over TLS', echoes: { tokens: true, lookups: true } },
  'silent tokens': { protocol: 'HTTP/1.1 over TLS', echoes: { tokens: false, lookups: true } },
  silent: { protocol: 'HTTP/1.1 over TLS', echoes: { tokens: false, lookups: false } },
  'HTTP/2': { protocol: 'HTTP/2 over TLS', echoes: { tokens: false, lookups: false } },
} as const satisfies Record<string, Wire>;

export type WireName = keyof typeof WIRES;

export const WIRE_NAMES = Object.keys(WIRES) as WireName[];

/** Where one of the operator's servers is, or of a proxy in front of it. */
export interface ServerAddress {
  readonly protocol: 'http' | 'https';
  readonly port: number;
}

export type ServerAddresses = Readonly<Record<WireName, ServerAddress>>;
