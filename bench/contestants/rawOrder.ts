/** What the limit is to do: no query, just the exchanges that one takes. */
export interface RawOrder {
  readonly numbers: readonly string[];
  readonly operation: 'retrieve-date' | 'check';
  /** Of each number. */
  readonly lookups: number;
  readonly batches: number;
  /** Batches at a time. */
  readonly concurrency: number;
  /** After each batch. */
  readonly pauseMs: number;
}

export interface RawResult {
  readonly latenciesMs: readonly number[];
}
