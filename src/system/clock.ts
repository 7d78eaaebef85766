/** Time, handed in, so that a rule about time can be tested without waiting. */
export interface Clock {
  /** Milliseconds since 1970, for what the operator says about dates. */
  nowMs(): number;
  /** Milliseconds that never run backwards, for expiry and intervals. */
  monotonicMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason when that comes first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  // By hand: node:timers/promises makes an error, with its stack, for each sleep that is cut short.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const onAbort = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(
        () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
        Math.max(0, ms),
      );
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
};

/** What work comes to, or `late` when the time is over first; the work goes on by itself. */
export async function withinTime<T, Late>(
  clock: Pick<Clock, 'sleep'>,
  timeLimitMs: number,
  work: Promise<T>,
  late: Late,
): Promise<T | Late> {
  const settled = new AbortController();
  const timeOver = clock.sleep(Math.max(0, timeLimitMs), settled.signal).then(
    () => late,
    () => late,
  );
  try {
    return await Promise.race([work, timeOver]);
  } finally {
    settled.abort();
  }
}

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
