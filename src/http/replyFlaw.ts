/** Which check a reply failed, in words for the log; nothing of the reply stands in them. */
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
  | 'a member twice'
  | 'a problem document with a status of success'
  | 'an error beside the answer'
  // Its members
  | 'wrong type of swapped'
  | 'wrong type of latestSimChange'
  | 'wrong type of monitoredPeriod'
  | 'date without a zone'
  | 'date not of RFC 3339'
  | 'date not of its form'
  | 'date ahead'
  | 'date before 1991'
  | 'wrong access_token'
  /** On a connection that a stray reply may have come on. */
  | 'a token that came before'
  | 'wrong token_type'
  | 'wrong expires_in'
  | 'wrong auth_req_id'
  | 'wrong interval'
  | 'wrong type of operator'
  | 'wrong window'
  | 'another number'
  /** A function of its profile failed. */
  | 'cannot be read by its profile';

/** Whose reply it is cannot be known: its correlator is not that of the request, or there is none. */
export type UnprovenOrigin =
  | 'another correlator'
  | 'no correlator'
  /** At an endpoint that has never echoed: its gateway may write correlators of its own, or none. */
  | 'another correlator, never ours'
  | 'no correlator, never ours';

const UNPROVEN: ReadonlySet<ReplyFlaw> = new Set<UnprovenOrigin>([
  'another correlator',
  'no correlator',
  'another correlator, never ours',
  'no correlator, never ours',
]);

/** Whether the flaw says that the reply may be that of another request. */
export function isUnprovenOrigin(flaw: ReplyFlaw | undefined): boolean {
  return flaw !== undefined && UNPROVEN.has(flaw);
}
