import type { LookupRequest } from './lookupRoute.ts';

/** How long a request waits for the owner of a number, where it says so and one is asked: as long as it may. */
export function waitOf(
  waitMs: number | undefined,
  maxWaitMs: number | undefined,
): Pick<LookupRequest, 'waitMs'> {
  if (waitMs === undefined || maxWaitMs === undefined) return {};
  return { waitMs: Math.min(waitMs, maxWaitMs) };
}
