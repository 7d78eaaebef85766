import type { Log, LogDetails } from '../log.ts';

/** The same log; each of its lines names the operator that it is about. */
export function operatorLog(operator: string, log: Log): Log {
  const write =
    (level: keyof Log) =>
    (message: string, details?: LogDetails): void =>
      log[level](message, { operator, ...details });
  return { info: write('info'), warn: write('warn'), error: write('error') };
}
