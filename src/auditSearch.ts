import { createReadStream } from 'node:fs';
import { parseArgs } from 'node:util';
import type { AuditSettings } from './caller/audit/auditSettings.ts';
import { findEntries, type Sought } from './caller/audit/findEntries.ts';
import { linesOf } from './caller/audit/lines.ts';
import { ConfigError } from './config/environment.ts';
import { readAuditConfig } from './config.ts';
import { parsePhoneNumber } from './domain/phoneNumber.ts';
import { fail } from './termination.ts';

const USAGE = `npm run audit -- --number NUMBER [FILE ...]
npm run audit -- --subject SUBJECT [FILE ...]
  Prints the entries of the audit log that are about a person, one JSON line each.
  NUMBER   + and the country code first: +447700900001; found in whatever form a token named it
  SUBJECT  what the issuer calls the person: the claim "sub" of their tokens
  FILE     where the log is, older files first; what AUDIT_LOG names if left out, - for standard input
  AUDIT_KEY (or AUDIT_KEY_FILE) must be what it was when the log was written; several with commas between.
`;

function readArguments(): { sought: Sought; files: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({
      options: { number: { type: 'string' }, subject: { type: 'string' } },
      allowPositionals: true,
    });
    return { sought: soughtBy(values.number, values.subject), files: positionals };
  } catch {
    return fail(USAGE);
  }
}

function soughtBy(text: string | undefined, subject: string | undefined): Sought {
  if (text === undefined) return subject === undefined ? fail(USAGE) : { kind: 'subject', subject };
  if (subject !== undefined) return fail(USAGE);
  const number = parsePhoneNumber(text);
  switch (number.kind) {
    case 'parsed':
      return { kind: 'number', number: number.value };
    case 'refused':
      return fail(number.reason);
  }
}

function readSettings(): AuditSettings {
  try {
    return readAuditConfig() ?? fail(USAGE);
  } catch (error) {
    if (error instanceof ConfigError) return fail(error.message);
    throw error;
  }
}

// Such as `head`, which has seen enough.
process.stdout.on('error', () => process.exit(1));

const { sought, files: named } = readArguments();
const audit = readSettings();
const files = named.length > 0 ? named : [audit.file ?? fail(USAGE)];

const count = { found: 0, torn: 0 };
for (const file of files) {
  const input = file === '-' ? process.stdin : createReadStream(file);
  input.setEncoding('utf8');
  try {
    for await (const line of findEntries(linesOf(input), sought, audit.keys, count)) {
      process.stdout.write(`${line}\n`);
    }
  } catch {
    fail(`${file} cannot be read.`);
  }
}
process.stderr.write(
  `${count.found} entries${count.torn > 0 ? `, ${count.torn} torn lines` : ''}\n`,
);
