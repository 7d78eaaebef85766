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

/** A clock of another machine: how far it is ahead of our monotonic one. */
export interface ClockElsewhere {
  /** At least so far: what is counted with it is never ahead of what that clock shows. */
  readonly minAheadMs: number;
  /** At most so far: what is counted with it is never behind. */
  readonly maxAheadMs: number;
}

/** By one reply that says what it showed: it was read after we sent and before the reply was here. */
export function clockElsewhere(
  shownMs: number,
  sentAtMs: number,
  repliedAtMs: number,
): ClockElsewhere {
  return { minAheadMs: shownMs - repliedAtMs, maxAheadMs: shownMs - sentAtMs };
}
