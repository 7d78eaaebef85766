import { styleText } from 'node:util';
import { maskPhoneNumbers } from '../domain/phoneNumber.ts';
import { StandardOutput } from './standardOutput.ts';

/** What goes with a message: names and counts, never a phone number, a token, a URL or a body. */
export type LogDetails = Readonly<Record<string, string | number | boolean | undefined>>;

/** pino's numbers, which log tools know. */
const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 } as const;

/** The name and style of each level in a terminal. */
const SHOWN = {
  20: { name: 'DEBUG', style: 'dim' },
  30: { name: 'INFO ', style: 'green' },
  40: { name: 'WARN ', style: 'yellow' },
  50: { name: 'ERROR', style: 'red' },
} as const;

export type LogLevel = keyof typeof LEVELS;

export interface Log {
  info(message: string, details?: LogDetails): void;
  warn(message: string, details?: LogDetails): void;
  error(message: string, details?: LogDetails): void;
}

export interface ProgramLog extends Log {
  debug(message: string, details?: LogDetails): void;
  /** Lines that were dropped so far, because the reader was gone or too slow. */
  lostLines(): number;
}

/**
 * JSON lines on standard output from a level up, or readable lines on a terminal. Lines are dropped while nothing reads
 * them. All texts are masked, including those of libraries.
 */
export function createLog(lowest: LogLevel = 'info'): ProgramLog {
  const output = new StandardOutput();
  const { stdout } = process;
  let reportedLines = 0;
  const writer = (at: LogLevel): Log['info'] => {
    const level = LEVELS[at];
    if (level < LEVELS[lowest]) return () => undefined;
    return (message, details = {}) => {
      const lines = output.lostLines - reportedLines;
      if (lines > 0 && output.hasRoom) {
        reportedLines += lines;
        warn('Lines of the log were lost: the reader of standard output was too slow.', { lines });
      }
      const time = new Date().toISOString();
      const line = { level, time, ...masked(details), msg: maskPhoneNumbers(message) };
      output.write(
        stdout.isTTY ? prettyLine(line, stdout.hasColors()) : `${JSON.stringify(line)}\n`,
      );
    };
  };
  const warn = writer('warn');
  return {
    debug: writer('debug'),
    info: writer('info'),
    warn,
    error: writer('error'),
    lostLines: () => output.lostLines,
  };
}

/** A log from one function for all levels. */
export function logOf(
  write: (level: keyof Log, message: string, details?: LogDetails) => void,
): Log {
  return {
    info: (message, details) => write('info', message, details),
    warn: (message, details) => write('warn', message, details),
    error: (message, details) => write('error', message, details),
  };
}

/** The same log, with these details in each line. */
export function logAbout(about: LogDetails, log: Log): Log {
  return logOf((level, message, details) => log[level](message, { ...about, ...details }));
}

/** Details without callers' input: their digits are not masked. */
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
  const shownDetails: Record<string, LogDetails[string]> = {};
  for (const [name, value] of Object.entries(details)) {
    const isOthers = typeof value === 'string' && !OWN.has(name);
    shownDetails[name] = isOthers ? maskPhoneNumbers(value) : value;
  }
  return shownDetails;
}

interface LogLine extends LogDetails {
  readonly level: keyof typeof SHOWN;
  /** In UTC (ISO 8601). */
  readonly time: string;
  readonly msg: string;
}

/** Characters that a terminal could take for a command, or that reorder text. */
const NOT_SHOWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Values that need no quotes. */
const PLAIN = /^[\w.:/@+-]+$/;

/** A line for a terminal: time, level, message and details. Pure. */
export function prettyLine({ level, time, msg, ...details }: LogLine, hasColors: boolean): string {
  const styled = (how: Parameters<typeof styleText>[0], text: string): string =>
    hasColors ? styleText(how, text, { validateStream: false }) : text;
  const { name, style } = SHOWN[level];
  const members = Object.entries(details)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${styled('dim', `${shown(key)}=`)}${valueOf(value)}`);
  const clock = styled('dim', time.slice(11, 19));
  return `${[clock, styled(style, name), shown(msg), ...members].join(' ')}\n`;
}

function valueOf(value: LogDetails[string]): string {
  const isPlain = typeof value === 'string' && PLAIN.test(value);
  return isPlain ? value : shown(JSON.stringify(value) ?? '');
}

function shown(text: string): string {
  return text.replaceAll(
    NOT_SHOWN,
    (sign) => `\\u{${sign.codePointAt(0)?.toString(16).padStart(4, '0')}}`,
  );
}
