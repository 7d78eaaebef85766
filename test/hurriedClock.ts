import { type Clock, systemClock } from '../src/system/clock.ts';

/** The machine's clocks, by which sleepers wake a hundred times too early: what happens every five seconds does so in 50 ms. */
export const hurriedClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms / 100, signal),
};
