import type { Caller } from './caller/caller.ts';
import type { SimSwapLoader } from './loaders/simSwapLoader.ts';

/** What one GraphQL request carries; made anew for each from parts handed in. */
export interface RequestContext {
  readonly caller: Caller;
  readonly simSwaps: SimSwapLoader;
}
