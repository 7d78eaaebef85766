import type { EchoSetting } from './echo.ts';

/** The five endpoints of an operator (docs/operator-api.md, "Endpoints"). */
export const ENDPOINT_NAMES = [
  'token',
  'backchannelAuthentication',
  'cibaToken',
  'retrieveDate',
  'check',
] as const;

export type EndpointName = (typeof ENDPOINT_NAMES)[number];

/** What a header holds: the same text each time, or one made for each exchange. */
export type HeaderValue =
  | { readonly kind: 'fixed'; readonly text: string }
  /** A new UUID (RFC 9562, version 4), or the time of sending (RFC 3339, UTC). */
  | { readonly kind: 'generated'; readonly generator: 'uuid' | 'timestamp' };

/** A header that an operator wants. */
export interface OperatorHeader {
  readonly name: string;
  readonly value: HeaderValue;
  readonly endpoints: ReadonlySet<EndpointName>;
}

/** How the exchanges of one request are named to an operator, and what it makes of the names. */
export interface CorrelatorSettings {
  /** In lower case; `x-correlator` in CAMARA. */
  readonly header: string;
  /** `traceable`: at most 55 letters, digits and hyphens that begin with the caller's own; or a UUID. */
  readonly form: 'traceable' | 'uuid';
  readonly echo: EchoSetting;
}

export interface LimitSettings {
  /** For one exchange, from connecting to the last byte of the reply. */
  readonly timeoutMs: number;
  /** Open at a time to one endpoint. */
  readonly connections: number;
  /** Lookups of one operation under way at a time; each holds its token request and its call. */
  readonly permits: number;
  /** Exchanges begun in a second over all endpoints, by the operator's contract; no bound where absent. */
  readonly requestsPerSecond?: number;
}
