import type { Log } from '../src/log/log.ts';

/** What would be logged stands in the table. */
export const SILENT: Log = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
