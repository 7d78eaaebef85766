import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import type { AuditSettings } from './caller/audit/auditSettings.ts';
import { findEntries } from './caller/audit/findEntries.ts';
import { ConfigError } from './config/environment.ts';
import { readAuditConfig } from './config.ts';
import { parsePhoneNumber } from './domain/phoneNumber.ts';

const USAGE = `npm run audit -- --number NUMBER [FILE ...]
  Prints the entries of the audit trail that are about a person, one JSON line each.
  NUMBER  + and the country code first: +447700900001
  FILE    where the trail is, older files first; what AUDIT_LOG names if left out, - for standard input
  AUDIT_KEY (or AUDIT_KEY_FILE) must be what it was when the trail was written; several with commas between.
`;

/** Ends the program with a word to its user. */
function fail(message: string): never {
  process.stderr.write(message);
  process.exit(1);
}

function readArguments(): { number: string; files: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({
      options: { number: { type: 'string' } },
      allowPositionals: true,
    });
    return { number: values.number ?? fail(USAGE), files: positionals };
  } catch {
    return fail(USAGE);
  }
}

function readSettings(): AuditSettings {
  try {
    return readAuditConfig() ?? fail(USAGE);
  } catch (error) {
    if (error instanceof ConfigError)
      return fail(`${error.message}
`);
    throw error;
  }
}

const asked = readArguments();
const number = parsePhoneNumber(asked.number);
if ('refused' in number) fail(`${number.refused}\n`);
const audit = readSettings();
const [...files] = asked.files.length > 0 ? asked.files : [audit.file ?? fail(USAGE)];

const count = { found: 0, torn: 0 };
for (const file of files) {
  const input = file === '-' ? process.stdin : createReadStream(file);
  try {
    const lines = createInterface({ input, crlfDelay: Infinity });
    for await (const line of findEntries(lines, number.value, audit.keys, count)) {
      process.stdout.write(`${line}\n`);
    }
  } catch {
    fail(`${file} cannot be read.\n`);
  }
}
process.stderr.write(
  `${count.found} entries${count.torn > 0 ? `, ${count.torn} torn lines` : ''}\n`,
);
