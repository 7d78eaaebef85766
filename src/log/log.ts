import { pino, type DestinationStream } from 'pino';
import { maskPhoneNumbers } from '../domain/phoneNumber.ts';
import { prettyLine } from './prettyLine.ts';
import { StandardOutput } from './standardOutput.ts';

/** What may stand beside a message: names and counts, never a number, a token, a URL or a body. */
export type LogDetails = Readonly<Record<string, string | number | boolean | undefined>>;

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

export interface Log {
  info(message: string, details?: LogDetails): void;
  warn(message: string, details?: LogDetails): void;
  error(message: string, details?: LogDetails): void;
}

export interface ProgramLog extends Log {
  debug(message: string, details?: LogDetails): void;
  /** How many lines have been dropped so far: their reader was gone, or far behind. */
  lostLines(): number;
}

/**
 * JSON lines on standard output, from a level up, and lines for people where that is a terminal; they are dropped while
 * nothing reads it. Every text is masked on its way out, that of libraries too.
 */
export function createLog(level: LogLevel = 'info'): ProgramLog {
  const output = new StandardOutput();
  const logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination(output),
  );
  let told = 0;
  const tellLost = (): void => {
    const lines = output.lostLines - told;
    if (lines === 0 || !output.hasRoom) return;
    told += lines;
    logger.warn({ lines }, 'lines of the log were lost: what reads standard output was too slow');
  };
  const write = (at: LogLevel): Log['info'] => {
    if (!logger.isLevelEnabled(at)) return () => undefined;
    return (message, details = {}) => {
      tellLost();
      logger[at](masked(details), maskPhoneNumbers(message));
    };
  };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    lostLines: () => output.lostLines,
  };
}

/** pino's own destination blocks the process while the reader has stopped. */
function destination(output: StandardOutput): DestinationStream {
  if (!process.stdout.isTTY) return output;
  const hasColors = process.stdout.hasColors();
  return { write: (line) => output.write(prettyLine(line, hasColors)) };
}

/** Details that hold nothing of a caller's, so that their digits stay: settings, and what `createCorrelator` makes. */
const OWN: ReadonlySet<string> = new Set([
  'correlator',
  'sentAs',
  'trace_id',
  'version',
  'commit',
  'node',
  'host',
  'operator',
  'operators',
  'profiles',
]);

function masked(details: LogDetails): LogDetails {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [
      name,
      typeof value === 'string' && !OWN.has(name) ? maskPhoneNumbers(value) : value,
    ]),
  );
}
