import type { Log, LogDetails } from './log.ts';

/** A log whose levels are written by one function. */
export function logOf(
  write: (level: keyof Log, message: string, details?: LogDetails) => void,
): Log {
  return {
    info: (message, details) => write('info', message, details),
    warn: (message, details) => write('warn', message, details),
    error: (message, details) => write('error', message, details),
  };
}

/** The same log; each of its lines says what it is about. */
export function logAbout(about: LogDetails, log: Log): Log {
  return logOf((level, message, details) => log[level](message, { ...about, ...details }));
}
