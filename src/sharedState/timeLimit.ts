import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../system/clock.ts';
import { SharedStateLost } from './sharedStateLost.ts';

/**
 * Waits for something of a shared store, and no longer.
 *
 * @throws {SharedStateLost} when it takes longer
 */
export async function inTime<T>(clock: Clock, running: Promise<T>, timeoutMs: number): Promise<T> {
  const over = new AbortController();
  // A busy process may get to its timers before a reply that has long been there: sockets are read first.
  const timeout = clock.sleep(timeoutMs, over.signal).then(async () => {
    await setImmediate();
    throw new SharedStateLost();
  });
  try {
    return await Promise.race([running, timeout]);
  } finally {
    timeout.catch(() => undefined);
    running.catch(() => undefined);
    over.abort();
  }
}
