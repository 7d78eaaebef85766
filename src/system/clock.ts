/** Time, handed in, so that a rule about time can be tested without waiting. */
export interface Clock {
  /** Milliseconds since 1970, for what the operator says about dates. */
  nowMs(): number;
  /** Milliseconds that never run backwards, for expiry and intervals. */
  monotonicMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason when that comes first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
