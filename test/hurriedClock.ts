import type { Clock } from '../src/system/clock.ts';
import { systemClock } from '../src/system/systemClock.ts';

/** The machine's clocks, by which sleepers wake a hundred times too early: what happens every five seconds does so in 50 ms. */
export const hurriedClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms / 100, signal),
};
