import { type Clock, systemClock } from '../../src/system/clock.ts';

/** The system's clocks with sleeps a hundred times shorter: every five seconds becomes every 50 ms. */
export const hurriedClock: Clock = {
  ...systemClock,
  after: (ms, act) => systemClock.after(ms / 100, act),
  sleep: (ms, signal) => systemClock.sleep(ms / 100, signal),
};
