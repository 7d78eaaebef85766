import { parseArgs } from 'node:util';
import { linesOf, rotatedFiles, textOf } from '../caller/audit/logFiles.ts';
import { parsePhoneNumber, type PhoneNumber } from '../domain/phoneNumber.ts';
import { fail } from '../system/termination.ts';

interface Declared<Text extends string, Flag extends string> {
  readonly texts: readonly Text[];
  readonly flags?: readonly Flag[];
  readonly allowPositionals?: boolean;
  readonly args?: readonly string[];
}

/** For commands: invalid arguments end the program with a message. */
export function argumentsOf<const Text extends string, const Flag extends string = never>(
  {
    texts,
    flags = [],
    allowPositionals = false,
    args = process.argv.slice(2),
  }: Declared<Text, Flag>,
  usage: string,
) {
  // A reader such as `head` may close the pipe.
  process.stdout.on('error', () => process.exit(1));
  const options = Object.fromEntries([
    ...texts.map((name) => [name, { type: 'string' }] as const),
    ...flags.map((name) => [name, { type: 'boolean' }] as const),
  ]);
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the options were declared
    const typed = values as Partial<Record<Text, string> & Record<Flag, true>>;
    return { values: typed, positionals };
  } catch (error) {
    return fail(`${unknownOption(error)}${usage}`);
  }
}

/** A line such as "Unknown option '--nuber'."; empty where it may be a misplaced number. */
function unknownOption(error: unknown): string {
  const [what = ''] = error instanceof Error ? error.message.split('. ') : [];
  return /^Unknown option '--(?!help)[a-z-]+'$/.test(what) ? `${what}.\n` : '';
}

export function numberOf(text: string, option = ''): PhoneNumber {
  const number = parsePhoneNumber(text);
  return number.kind === 'parsed' ? number.value : fail(`${option}${number.reason}`);
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** A day, which begins at midnight UTC, or a time with a zone (RFC 3339), in milliseconds since 1970. */
export function timeOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const isDay = DAY.test(text);
  const atMs = isDay || TIME.test(text) ? Date.parse(text) : Number.NaN;
  // `Date.parse` takes the 31st of a month with 30 days for the next day.
  if (!Number.isNaN(atMs) && (!isDay || new Date(atMs).toISOString().startsWith(text))) return atMs;
  return fail(
    `${option} must be a day such as 2026-11-01, or a time such as 2026-11-01T08:00:00Z.`,
  );
}

export function integerOf(option: string, text: string, min: number, max: number): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  return fail(`${option} must be a whole number from ${min} to ${max}.`);
}

/** The lines of these files, or of the audit log with its rotated files. A file that cannot be read ends the program. */
export async function* linesIn(
  named: readonly string[],
  auditLog: string | undefined,
  further = '',
): AsyncGenerator<string> {
  if (named.length === 0 && auditLog === undefined) fail('Name a FILE, or set AUDIT_LOG.');
  const rotated = () =>
    rotatedFiles(auditLog ?? '').catch(() => fail('The directory of AUDIT_LOG cannot be read.'));
  const files = named.length > 0 ? named : await rotated();
  // The service writes a line when it starts: without a file the name is wrong.
  if (files.length === 0) fail('AUDIT_LOG names no file, and no rotated one is next to it.');
  for (const file of files) {
    try {
      yield* linesOf(textOf(file));
    } catch {
      fail(`${file} cannot be read to its end.${further}`);
    }
  }
}
