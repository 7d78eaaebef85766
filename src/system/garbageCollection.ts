import { setFlagsFromString } from 'node:v8';

/**
 * Sets V8's collector for a process whose objects live as long as a request (docs/decisions/0025-objects-that-live-as-long-as-a-request.md):
 * a fifth to a third less CPU for a number of a list.
 */
export function expectShortLives(): void {
  // After a burst of long lists V8 allocates new objects as old ones, which keep all that they point to.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // Few objects survive: threads that share the search for them wait for each other.
  setFlagsFromString('--no-parallel-scavenge');
}
