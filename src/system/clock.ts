/** Time as a parameter, so that rules about time are tested without waiting. */
export interface Clock {
  /** Milliseconds since 1970, to compare with dates of operators. */
  nowMs(): number;
  /** Milliseconds that never run backwards, for expiry and intervals. */
  monotonicMs(): number;
  /** Calls `act` after `ms`, unless the returned function is called first. */
  after(ms: number, act: () => void): () => void;
  /** Resolves after `ms`; rejects with the signal's reason when that comes first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(ms, act) {
    const timer = setTimeout(act, Math.max(0, ms));
    return () => clearTimeout(timer);
  },
  // By hand: node:timers/promises makes an error, with its stack, for each sleep that is cut short.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const onAbort = (): void => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = systemClock.after(ms, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
};

/** Whether the whole time passed: `false` when the signal came first. */
export function slept(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  return clock.sleep(ms, signal).then(
    () => true,
    () => false,
  );
}

/** The result of the work, or `late` after the time limit; the work continues. */
export function withinTime<T, Late>(
  clock: Pick<Clock, 'after'>,
  timeLimitMs: number,
  work: Promise<T>,
  late: Late,
): Promise<T | Late> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(timeLimitMs, () => resolve(late));
    void work.then(resolve, reject).then(cancel);
  });
}

/** How far the clock of another machine is ahead of our monotonic clock. */
export interface ClockElsewhere {
  /** The lower bound: times computed with it are never ahead of that clock. */
  readonly minAheadMs: number;
  /** The upper bound: times computed with it are never behind that clock. */
  readonly maxAheadMs: number;
}

/** From one reply with the other machine's time, which was read between our sending and the reply's arrival. */
export function clockElsewhere(
  shownMs: number,
  sentAtMs: number,
  repliedAtMs: number,
): ClockElsewhere {
  return { minAheadMs: shownMs - repliedAtMs, maxAheadMs: shownMs - sentAtMs };
}
