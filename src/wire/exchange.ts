import type { LightAbortSignal } from '../system/urgency.ts';
import type { ConnectStage } from './connectFailure.ts';

export interface HttpReply {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export type FaultCause =
  | 'connection'
  /** This process has no file descriptors left, which is not a fault of the operator. */
  | 'descriptors'
  | 'timeout'
  /** The signal of the request was aborted. */
  | 'cancelled'
  /** The rate of the operator's contract left no time for the exchange; it was not begun. */
  | 'rate'
  /** Too large, not HTTP, or another request's. */
  | 'invalid-reply';

export interface TransportFault {
  readonly cause: FaultCause;
  /** `false` only when it is proven that no byte of the request left (docs/design.md, "Retries"). */
  readonly sent: boolean;
  /** For the log: what broke, without addresses or contents. */
  readonly detail: string;
  readonly stage?: ConnectStage;
  readonly flaw?: ReplyFlaw;
  /** How long until an exchange may begin, where it could not begin in time. */
  readonly retryAfterSeconds?: number;
}

export interface Departure {
  /** Milliseconds since 1970 by this process's wall clock, with which dates are compared. */
  readonly sentAtMs: number;
  /** On this process's monotonic clock, from which ages and lifetimes are counted. */
  readonly leftAtMs: number;
}

export type Exchange = Replied | { readonly kind: 'fault'; readonly fault: TransportFault };

/** An exchange that was not begun. */
export function notBegun(cause: FaultCause, detail: string): Exchange {
  return { kind: 'fault', fault: { cause, sent: false, detail } };
}

export interface Replied extends Departure {
  readonly kind: 'reply';
  readonly reply: HttpReply;
  /**
   * Whether it may belong to another request: an error without the correlator that this endpoint echoes, on a
   * connection that has carried other exchanges. It must not decide about a consent.
   */
  readonly isUnproven?: boolean;
  /** A proof with this nonce is required (RFC 9449); `undefined` if unusable. Nothing was carried out or refused. */
  readonly challenge?: { readonly nonce: string | undefined };
}

/** One request, without the headers that its endpoint adds to each. */
export interface OutgoingRequest {
  /** POST where absent. */
  readonly method?: 'GET' | 'POST';
  /** Replaces the endpoint's path where it has a placeholder for a number; encoded, with a leading slash. */
  readonly path?: string | undefined;
  /** Names and values in turn, in addition to those that the endpoint itself sends. */
  readonly headers: readonly string[];
  /** Members of the URL's query, encoded, in addition to those of the endpoint's own address. */
  readonly query?: string;
  /** A GET has neither. */
  readonly contentType?: 'application/json' | 'application/x-www-form-urlencoded' | undefined;
  readonly body?: string | undefined;
  /** Sent in the operator's correlator header; no two exchanges share one. */
  readonly correlator: string;
  readonly signal?: LightAbortSignal | undefined;
  /** The token that goes with it; a proof of possession names it. */
  readonly accessToken?: string | undefined;
  /** Called when the first byte leaves. */
  readonly onFirstByte?: (() => void) | undefined;
  /** Called when the headers of the reply have arrived, where they prove that the reply is ours. */
  readonly onHeaders?: ((status: number, headers: HttpReply['headers']) => void) | undefined;
}

export type ReplyFlaw =
  // The exchange
  | 'not HTTP'
  | 'too large'
  | 'unexpected status'
  | UnprovenOrigin
  // The body
  | 'an encoding that was not requested'
  | 'no JSON'
  | 'no JSON object'
  | 'nested too deeply'
  | 'a member twice'
  | 'a problem document with a status of success'
  | 'an error with the answer'
  // Its members
  | 'wrong type of swapped'
  | 'wrong type of latestSimChange'
  | 'wrong type of monitoredPeriod'
  | 'date without a zone'
  | 'date not in RFC 3339'
  | 'date in another form'
  | 'date ahead'
  | 'date before 1991'
  | 'wrong access_token'
  /** On a connection where a stray reply may have arrived. */
  | 'a token that was received before'
  | 'wrong token_type'
  | 'wrong expires_in'
  | 'wrong auth_req_id'
  | 'wrong interval'
  | 'wrong type of operator'
  | 'wrong window'
  | 'another number'
  | 'cannot be read by its profile';

/** The reply may belong to another request: its correlator differs, or is missing. */
const UNPROVEN_ORIGINS = [
  'another correlator',
  'no correlator',
  // At an endpoint that has never echoed: its gateway may write its own correlators, or none.
  'another correlator, and ours was never echoed',
  'no correlator, and ours was never echoed',
] as const;

export type UnprovenOrigin = (typeof UNPROVEN_ORIGINS)[number];

export function isUnprovenOrigin(flaw: ReplyFlaw | undefined): boolean {
  return UNPROVEN_ORIGINS.some((origin) => origin === flaw);
}
