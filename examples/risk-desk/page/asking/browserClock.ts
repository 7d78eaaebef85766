import type { DeskClock } from './desk.ts';

export const browserClock: DeskClock = {
  now: () => Date.now(),
  sleep(ms, signal) {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (signal.aborted) return Promise.resolve();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
    return promise;
  },
};
