import { expect } from 'vitest';
import { SharedStateLost, type Redis } from '../../src/sharedState/redis.ts';
import { systemClock } from '../../src/system/clock.ts';

/** Waits for what other processes do; a test's own time limit ends it. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await systemClock.sleep(20);
}

/** Whether a script is answered; the only failure is that the shared state is lost. */
export function answers(redis: Redis, key = 'key'): Promise<boolean> {
  return redis.run('return 1', [key]).then(
    (reply) => reply === 1,
    (error: unknown) => {
      expect(error).toBeInstanceOf(SharedStateLost);
      return false;
    },
  );
}
