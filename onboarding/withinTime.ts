/** The time of a step was up. */
class TimeIsUp extends Error {
  override readonly name = 'timeout';
}

/** The work's own end, or a rejection named `timeout` when that takes longer. */
export async function withinTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new TimeIsUp('Time is up.')), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
