/** What the simulator has counted since it started, or since the counts were last reset. */
export type Counts = ReturnType<typeof noCounts>;

export function noCounts() {
  return {
    /** All requests that reached it, with any outcome, except requests for these counts. */
    requests: 0,
    /** Lookups answered: what an operator would bill. */
    lookups: 0,
    retrieveDate: 0,
    check: 0,
    /** Lookups refused, for any reason. */
    refusedLookups: 0,
    /** Lookups refused because another about the same number was under way. */
    conflicts: 0,
    /** Access tokens issued. */
    tokens: 0,
    /** Uses of a token that was used before. */
    reusedTokens: 0,
    /** Uses of a token for another number or operation. */
    misusedTokens: 0,
    /** Prompts for consent. */
    prompts: 0,
    /** Prompts while an earlier one about the same number was still open. */
    doublePrompts: 0,
    polls: 0,
    /** Polls before the interval was over. */
    earlyPolls: 0,
    /** Polls of an id while another poll of it was under way. */
    overlappingPolls: 0,
    /** Requests whose client authentication was refused. */
    refusedClients: 0,
    /** Requests whose proof of possession was missing or wrong. */
    refusedProofs: 0,
    /** Requests for tokens and consents whose proof had to name another nonce. */
    tokenChallenges: 0,
    /** Lookups whose proof had to name another nonce. */
    lookupChallenges: 0,
  };
}
