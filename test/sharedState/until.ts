import { systemClock } from '../../src/system/clock.ts';

/** Waits for what other processes do; a test's own time limit ends it. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await systemClock.sleep(20);
}
