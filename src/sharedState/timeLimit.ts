import type { Clock } from '../clock.ts';
import { SharedStateLost } from './sharedStateLost.ts';

/**
 * Waits for something of a shared store, and no longer.
 *
 * @throws {SharedStateLost} when it takes longer
 */
export async function inTime<T>(clock: Clock, running: Promise<T>, timeoutMs: number): Promise<T> {
  const over = new AbortController();
  const timeout = clock.sleep(timeoutMs, over.signal).then(() => {
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
