/** How the operator behaves for the next workload. */
export interface OperatorManners {
  /** How long each reply takes. */
  readonly hopMs: number;
  /** Every so manyth line was swapped ten days ago; 0 for none. */
  readonly swappedEvery: number;
  /** Whether it knows no number: every lookup comes to a 404. */
  readonly refusesLookups: boolean;
  /** What it asks clients to wait between polls. */
  readonly intervalSeconds: number;
}

/** What reached the operator. */
export interface OperatorCounts {
  tokens: number;
  lookups: number;
  prompts: number;
  polls: number;
}

export const NOBODY_SWAPPED: OperatorManners = {
  hopMs: 0,
  swappedEvery: 0,
  refusesLookups: false,
  intervalSeconds: 2,
};
