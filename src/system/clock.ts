/** Time as a parameter, so that rules about time are tested without waiting. */
export interface Clock {
  /** Milliseconds since 1970, to compare with dates of operators. */
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

/** The result of the work, or `late` after the time limit; the work continues. */
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

/** How far the clock of another machine is ahead of our monotonic clock. */
export interface ClockElsewhere {
  /** The lower bound: times computed with it are never ahead of that clock. */
  readonly minAheadMs: number;
  /** The upper bound: times computed with it are never behind that clock. */
  readonly maxAheadMs: number;
}

/** From one reply with its time, which was read between our sending and the reply's arrival. */
export function clockElsewhere(
  shownMs: number,
  sentAtMs: number,
  repliedAtMs: number,
): ClockElsewhere {
  return { minAheadMs: shownMs - repliedAtMs, maxAheadMs: shownMs - sentAtMs };
}
