import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AuditSettings } from '../caller/audit/auditLog.ts';
import { MIN_SECRET_CHARACTERS, type EnvironmentReader } from './environment.ts';

/**
 * Reads where the audit log goes; `undefined` where there is none, on loopback alone. `exposure` says
 * why strangers can reach the server.
 */
export function readAudit(
  read: EnvironmentReader,
  exposure: string | undefined,
): AuditSettings | undefined {
  const file = read.text('AUDIT_LOG');
  const secret = read.secret('AUDIT_KEY');
  if (exposure !== undefined || file !== undefined) {
    read.requiredSecret('AUDIT_KEY', exposure ?? 'AUDIT_LOG needs it');
  }
  if (secret === undefined) return undefined;
  const [first, ...previous] = secret.split(',').map((key) => key.trim());
  const keys = [first ?? '', ...previous] as const;
  if (keys.some((key) => key.length < MIN_SECRET_CHARACTERS)) {
    read.problem('AUDIT_KEY', `must have at least ${MIN_SECRET_CHARACTERS} characters in each key`);
  }
  if (file !== undefined && !canAppendTo(file)) {
    read.problem('AUDIT_LOG', 'names a file that cannot be written');
  }
  return { keys: [...keys], file };
}

/** The server had better not start than find out with the first lookup. Leaves no file behind. */
function canAppendTo(file: string): boolean {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    accessSync(found === undefined ? dirname(file) : file, constants.W_OK);
    return found?.isDirectory() !== true;
  } catch {
    return false;
  }
}
