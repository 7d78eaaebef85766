import type { Log } from '../src/log/log.ts';

/** Hears everything and says nothing. */
export const silentLog: Log = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
