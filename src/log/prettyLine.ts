import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** By pino's numbers. */
const LEVELS: ReadonlyMap<unknown, readonly [name: string, style: Style]> = new Map([
  [20, ['DEBUG', 'dim']],
  [30, ['INFO ', 'green']],
  [40, ['WARN ', 'yellow']],
  [50, ['ERROR', 'red']],
]);

/** What a terminal could take for a command, or show in another order than it stands. */
const NOT_SHOWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** What can stand without quotes. */
const PLAIN = /^[\w.:/@+-]+$/;

/**
 * A line of the log for people: the time, the level, the message, and what stands beside it. What is no such line stays as
 * it is. Pure.
 */
export function prettyLine(line: string, hasColors: boolean): string {
  const read = parse(line);
  if (read === undefined) return line;
  const { level, time, msg, ...details } = read;
  const [name, style] = LEVELS.get(level) ?? [shown(String(level)), 'reset'];
  const styled = (how: Style, text: string): string =>
    hasColors ? styleText(how, text, { validateStream: false }) : text;
  const beside = Object.entries(details).map(
    ([key, value]) => `${styled('dim', `${shown(key)}=`)}${valueOf(value)}`,
  );
  // Of an ISO 8601 time, in UTC as all that is logged.
  const clock = styled('dim', shown(String(time)).slice(11, 19));
  return `${[clock, styled(style, name), shown(String(msg)), ...beside].join(' ')}\n`;
}

function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const read: unknown = JSON.parse(line);
    return typeof read === 'object' && read !== null && 'msg' in read ? { ...read } : undefined;
  } catch {
    return undefined;
  }
}

function valueOf(value: unknown): string {
  if (typeof value !== 'string') return shown(JSON.stringify(value) ?? 'undefined');
  return PLAIN.test(value) ? value : shown(JSON.stringify(value));
}

function shown(text: string): string {
  return text.replaceAll(
    NOT_SHOWN,
    (sign) => `\\u{${sign.codePointAt(0)?.toString(16).padStart(4, '0')}}`,
  );
}
