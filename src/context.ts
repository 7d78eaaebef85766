import type { Caller } from './caller/caller.ts';
import type { QuotaStanding } from './caller/quotas/quotas.ts';
import type { SimSwapLoader } from './loaders/simSwapLoader.ts';

/** What one GraphQL request carries; made anew for each from parts handed in. */
export interface RequestContext {
  readonly caller: Caller;
  readonly simSwaps: SimSwapLoader;
  /** What the caller has left of its quotas by now; nothing for an anonymous one. Never rejects. */
  quotas(): Promise<readonly QuotaStanding[]>;
  /** How long the request waits for the owner of a number, where it said so and the flow takes consent. */
  readonly waitMs?: number;
}
