/** A reply before faults and the wire. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; no body where absent. */
  readonly body?: object;
}

/** OAuth's error body (RFC 6749 §5.2). */
export function oauthError(status: number, error: string): Reply {
  return { status, body: { error } };
}
