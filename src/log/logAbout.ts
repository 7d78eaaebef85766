import type { Log, LogDetails } from './log.ts';

/** The same log; each of its lines says what it is about. */
export function logAbout(about: LogDetails, log: Log): Log {
  const write =
    (level: keyof Log) =>
    (message: string, details?: LogDetails): void =>
      log[level](message, { ...about, ...details });
  return { info: write('info'), warn: write('warn'), error: write('error') };
}
