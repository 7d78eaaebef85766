/** A clock of another machine, by ours. */
export interface ClockElsewhere {
  /** What it shows at a moment of ours, or a little before that. */
  atLeast(monotonicMs: number): number;
  /** What it shows at a moment of ours, or a little after that. */
  atMost(monotonicMs: number): number;
}

/**
 * By one reply that says what it showed. It was read after we sent and before the reply was here: counted on from the reply,
 * it is never ahead of itself, counted on from the sending never behind, and by no more than the reply took to come.
 */
export function clockElsewhere(
  shownMs: number,
  sentAtMs: number,
  repliedAtMs: number,
): ClockElsewhere {
  return {
    atLeast: (monotonicMs) => shownMs + (monotonicMs - repliedAtMs),
    atMost: (monotonicMs) => shownMs + (monotonicMs - sentAtMs),
  };
}
