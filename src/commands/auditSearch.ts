import { parseArgs } from 'node:util';
import { filesOf, settingsOf, timeOf } from './auditArguments.ts';
import { findEntries, type SearchCount, type Sought } from '../caller/audit/findEntries.ts';
import { textOf, linesOf } from '../caller/audit/logFiles.ts';
import { readAuditConfig } from '../config/config.ts';
import { parsePhoneNumber, type PhoneNumber } from '../domain/phoneNumber.ts';
import { fail } from '../system/termination.ts';

const USAGE = `npm run audit -- [--number NUMBER] [--subject SUBJECT] [--client CLIENT] [--since DAY] [--until DAY]
                 [--outcome OUTCOME] [--operator NAME] [--correlator CORRELATOR] [FILE ...]
  Prints the entries of the audit log that fit all of these, one JSON line each; name at least one.
  NUMBER   + and the country code first: +447700900001; found in whatever form a token named it
  SUBJECT  what the issuer calls the person who asked: the claim "sub" of their tokens
  CLIENT   what the issuer calls the client that asked
  DAY      2026-11-01, or a time such as 2026-11-01T08:00:00Z; a day begins at midnight UTC
  OUTCOME  answered, asked, broken or a code such as CONSENT_DENIED
  NAME     the operator's, as in its settings
  CORRELATOR  the x-correlator that the client sent or was given, or that of an exchange in the log
  FILE     where the log is, gzipped or not, older files first; AUDIT_LOG and what it was rotated to if left out,
           - for standard input
  AUDIT_KEY (or AUDIT_KEY_FILE) must be what it was when the log was written; several with commas between.
`;

function readArguments(): { sought: Sought; files: readonly string[] } {
  const { values, positionals } = parsedArguments();
  const { number, subject, client, since, until, outcome, operator, correlator } = values;
  if (Object.keys(values).length === 0) return fail(USAGE);
  return {
    sought: {
      ...(number === undefined ? {} : { number: numberOf(number) }),
      ...(subject === undefined ? {} : { subject }),
      ...(client === undefined ? {} : { client }),
      ...(since === undefined ? {} : { sinceMs: timeOf('--since', since) }),
      ...(until === undefined ? {} : { untilMs: timeOf('--until', until) }),
      ...(outcome === undefined ? {} : { outcome }),
      ...(operator === undefined ? {} : { operator }),
      ...(correlator === undefined ? {} : { correlator }),
    },
    files: positionals,
  };
}

function parsedArguments() {
  try {
    const text = { type: 'string' } as const;
    return parseArgs({
      options: {
        number: text,
        subject: text,
        client: text,
        since: text,
        until: text,
        outcome: text,
        operator: text,
        correlator: text,
      },
      allowPositionals: true,
    });
  } catch {
    return fail(USAGE);
  }
}

function numberOf(text: string): PhoneNumber {
  const number = parsePhoneNumber(text);
  switch (number.kind) {
    case 'parsed':
      return number.value;
    case 'refused':
      return fail(number.reason);
  }
}

// Such as `head`, which has seen enough.
process.stdout.on('error', () => process.exit(1));

const { sought, files: named } = readArguments();
const audit = settingsOf(readAuditConfig) ?? fail('AUDIT_KEY is missing: a search needs it.');

const count = { found: 0, torn: 0, tornAfter: 0 };
for (const file of await filesOf(named, audit.file)) {
  try {
    for await (const line of findEntries(linesOf(textOf(file)), sought, audit.keys, count)) {
      process.stdout.write(`${line}\n`);
    }
  } catch {
    fail(`${file} cannot be read to its end.`);
  }
}
process.stderr.write(`${[`${count.found} entries`, ...tornLines(count)].join(', ')}\n`);

/** A disk that is full tears lines; what a torn line `before` stands for was not asked. */
function tornLines({ torn, tornAfter }: SearchCount): readonly string[] {
  if (torn === 0) return [];
  const end = tornAfter === 0 ? '' : ` (${tornAfter} after a lookup, whose outcome is lost)`;
  return [`${torn} torn lines${end}`];
}
