import type { LookupRequest } from '../lookups/lookupRoute.ts';
import type { SimSwapLoader } from './simSwapLoader.ts';

/** SIM swap answers from one operator. */
export interface SimSwaps {
  /** The loader of one request. */
  forRequest(request: LookupRequest): SimSwapLoader;
  /** Waits for what must not be cut, then closes the connections. */
  close(): Promise<void>;
}
