import type { LightAbortSignal } from '../../src/system/urgency.ts';

/** For functions that take Node's. */
export function abortSignalOf(signal: LightAbortSignal): AbortSignal {
  const aborter = new AbortController();
  const abort = (): void => aborter.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.add({ abort });
  return aborter.signal;
}
