import { WINDOW_MS } from '../caller/quotas/hourlyCounts.ts';
import type { QuotaStanding } from '../caller/quotas/quotas.ts';

/**
 * What is left of a caller's quotas as header fields (RateLimit header fields for HTTP, IETF draft:
 * `RateLimit-Policy` and `RateLimit`, lists of structured fields). Pure.
 */
export function rateLimitFields(
  standings: readonly QuotaStanding[],
): readonly (readonly [string, string])[] {
  if (standings.length === 0) return [];
  const windowSeconds = WINDOW_MS / 1000;
  const policies = standings.map(({ quota, limit }) => `"${quota}";q=${limit};w=${windowSeconds}`);
  const left = standings.map(
    ({ quota, left: remaining, resetSeconds }) => `"${quota}";r=${remaining};t=${resetSeconds}`,
  );
  return [
    ['ratelimit-policy', policies.join(', ')],
    ['ratelimit', left.join(', ')],
  ];
}
