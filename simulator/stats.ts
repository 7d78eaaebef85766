/** What the simulator has counted since it started, or since the counts were last reset. */
export interface Counts {
  /** All requests that reached it, with any outcome, except requests for these counts. */
  requests: number;
  /** Lookups answered: what an operator would bill. */
  lookups: number;
  retrieveDate: number;
  check: number;
  /** Lookups refused, for any reason. */
  refusedLookups: number;
  /** Lookups refused because another about the same number was under way. */
  conflicts: number;
  /** Access tokens issued. */
  tokens: number;
  /** Uses of a token that was used before. */
  reusedTokens: number;
  /** Uses of a token for another number or operation. */
  misusedTokens: number;
  /** Prompts for consent. */
  prompts: number;
  /** Prompts while an earlier one about the same number was still open. */
  doublePrompts: number;
  polls: number;
  /** Polls before the interval was over. */
  earlyPolls: number;
  /** Polls of an id while another poll of it was under way. */
  overlappingPolls: number;
  /** Requests whose client authentication was refused. */
  refusedClients: number;
  /** Requests whose proof of possession was missing or wrong. */
  refusedProofs: number;
  /** Requests for tokens and consents whose proof had to name another nonce. */
  tokenChallenges: number;
  /** Lookups whose proof had to name another nonce. */
  lookupChallenges: number;
}

/** All counts at zero. */
export function noCounts(): Counts {
  return {
    requests: 0,
    lookups: 0,
    retrieveDate: 0,
    check: 0,
    refusedLookups: 0,
    conflicts: 0,
    tokens: 0,
    reusedTokens: 0,
    misusedTokens: 0,
    prompts: 0,
    doublePrompts: 0,
    polls: 0,
    earlyPolls: 0,
    overlappingPolls: 0,
    refusedClients: 0,
    refusedProofs: 0,
    tokenChallenges: 0,
    lookupChallenges: 0,
  };
}
