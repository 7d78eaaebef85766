import { setFlagsFromString } from 'node:v8';

/**
 * Sets V8's collector for a process whose objects live as long as a request (docs/decisions/0025-objects-that-live-as-long-as-a-request.md):
 * a fifth to a third less CPU for a number of a list.
 */
export function expectShortLives(): void {
  // A burst of long lists makes V8 allocate as if all objects would live long; what they point to is then kept as well.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // What survives is little: threads that share the work of finding it wait for each other.
  setFlagsFromString('--no-parallel-scavenge');
}
