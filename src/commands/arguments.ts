import { parseArgs, type ParseArgsConfig } from 'node:util';
import { rotatedFiles } from '../caller/audit/logFiles.ts';
import { ConfigError } from '../config/environment.ts';
import { parsePhoneNumber, type PhoneNumber } from '../domain/phoneNumber.ts';
import { fail } from '../system/termination.ts';

export const TEXT = { type: 'string' } as const;

/** Reads the arguments of a command that prints, or ends the program with its usage. */
export function argumentsOf<const Declared extends ParseArgsConfig>(
  declared: Declared,
  usage: string,
): ReturnType<typeof parseArgs<Declared>> {
  // The reader may be such as `head`, which has seen enough.
  process.stdout.on('error', () => process.exit(1));
  try {
    return parseArgs(declared);
  } catch {
    return fail(usage);
  }
}

export function settingsOf<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigError) return fail(error.message);
    throw error;
  }
}

export function numberOf(text: string, option = ''): PhoneNumber {
  const number = parsePhoneNumber(text);
  return number.kind === 'parsed' ? number.value : fail(`${option}${number.reason}`);
}

/** Reads the time of an option, in milliseconds since 1970, or ends the program. */
export function timeOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return (
    parseDay(text) ??
    fail(`${option} must be a day such as 2026-11-01, or a time such as 2026-11-01T08:00:00Z.`)
  );
}

/** The files that are named, or else the audit log with what it was rotated to; ends the program without either. */
export async function filesOf(
  named: readonly string[],
  auditLog: string | undefined,
): Promise<readonly string[]> {
  if (named.length > 0) return named;
  if (auditLog === undefined) return fail('Name a FILE, or set AUDIT_LOG.');
  try {
    return await rotatedFiles(auditLog);
  } catch {
    return fail('The directory of AUDIT_LOG cannot be read.');
  }
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * Reads a day, which begins at midnight UTC, or a time with a zone (RFC 3339), as milliseconds since 1970;
 * `undefined` where it is neither. Pure.
 */
function parseDay(text: string): number | undefined {
  if (!DAY.test(text) && !TIME.test(text)) return undefined;
  const atMs = Date.parse(text);
  if (Number.isNaN(atMs)) return undefined;
  // The 31st of a month with 30 days would be read as the day after.
  const isDay = !DAY.test(text) || new Date(atMs).toISOString().startsWith(text);
  return isDay ? atMs : undefined;
}
