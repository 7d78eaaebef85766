/** No time is shown before this share of a list is done: the first pages say little about the rest. */
const MIN_DONE = 40;

/**
 * How long the rest will take at the pace so far, in milliseconds; `null` while that is not known.
 * `activeMs` is the time without pauses.
 */
export function timeLeftMs(done: number, total: number, activeMs: number): number | null {
  if (done >= total) return 0;
  if (done < Math.min(MIN_DONE, total)) return null;
  return ((total - done) * activeMs) / done;
}

/** For people: rounded up, so that it is not promised too soon. */
export function durationName(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}
