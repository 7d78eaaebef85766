const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** An answer holds for the moment of its lookup; from this age on the age is shown. */
export const AGEING_MS = 15 * MINUTE_MS;
/** From here on it is not to be relied on. */
export const STALE_MS = HOUR_MS;

export type Freshness = 'fresh' | 'ageing' | 'stale';

/** A moment ahead of our clock counts as now. */
export function freshnessOf(asOfMs: number, nowMs: number): Freshness {
  const ageMs = nowMs - asOfMs;
  if (ageMs >= STALE_MS) return 'stale';
  return ageMs >= AGEING_MS ? 'ageing' : 'fresh';
}

/** Such as `just now`, `4 min ago`, `3 days ago`. */
export function agoName(atMs: number, nowMs: number): string {
  const ageMs = Math.max(0, nowMs - atMs);
  if (ageMs < MINUTE_MS) return 'just now';
  if (ageMs < HOUR_MS) return `${Math.floor(ageMs / MINUTE_MS)} min ago`;
  if (ageMs < 48 * HOUR_MS) return `${Math.round(ageMs / HOUR_MS)} h ago`;
  const days = Math.round(ageMs / (24 * HOUR_MS));
  if (days < 60) return `${days} days ago`;
  if (days < 730) return `${Math.round(days / 30.44)} months ago`;
  return `${Math.round(days / 365.25)} years ago`;
}
