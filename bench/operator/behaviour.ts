/** How the operator behaves for the next workload. */
export interface OperatorBehaviour {
  /** How long each reply takes. */
  readonly hopMs: number;
  /** Every so manyth line was swapped ten days ago; 0 for none. */
  readonly swappedEvery: number;
  /** Whether it knows no number: every lookup comes to a 404. */
  readonly refusesLookups: boolean;
  /** What it asks clients to wait between polls. */
  readonly intervalSeconds: number;
}

export const DEFAULT_BEHAVIOUR: OperatorBehaviour = {
  hopMs: 0,
  swappedEvery: 0,
  refusesLookups: false,
  intervalSeconds: 2,
};
