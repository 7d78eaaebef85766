import { argumentsOf, linesIn, numberOf, timeOf } from './arguments.ts';
import { findEntries, type Sought } from '../caller/audit/findEntries.ts';
import { readAuditConfig, readOrFail } from '../config/config.ts';
import { fail } from '../system/termination.ts';

const USAGE = `npm run audit -- [--number NUMBER] [--subject SUBJECT] [--client CLIENT] [--since DAY] [--until DAY]
                 [--outcome OUTCOME] [--operator NAME] [--correlator CORRELATOR] [FILE ...]
  Prints the entries of the audit log that match all of these, one JSON line each; name at least one.
  NUMBER   + and the country code first: +447700900001; found in any form in which a token named it
  SUBJECT  what the issuer calls the caller: the claim "sub" of their tokens
  CLIENT   what the issuer calls the client
  DAY      2026-11-01, or a time such as 2026-11-01T08:00:00Z; a day begins at midnight UTC
  OUTCOME  answered, asked, broken or a code such as CONSENT_DENIED
  NAME     the operator's, as in its settings
  CORRELATOR  the x-correlator that the client sent or was given, or that of an exchange in the log
  FILE     where the log is, gzipped or not, older files first; AUDIT_LOG and what it was rotated to if left out,
           - for standard input
  AUDIT_KEY (or AUDIT_KEY_FILE) must be what it was when the log was written; several with commas between.
`;

const { values, positionals } = argumentsOf(
  {
    texts: ['number', 'subject', 'client', 'since', 'until', 'outcome', 'operator', 'correlator'],
    allowPositionals: true,
  },
  USAGE,
);
if (Object.keys(values).length === 0) fail(USAGE);
const { number, since, until, ...others } = values;
const sought: Sought = {
  ...others,
  number: number === undefined ? undefined : numberOf(number),
  sinceMs: timeOf('--since', since),
  untilMs: timeOf('--until', until),
};
const audit = readOrFail(readAuditConfig) ?? fail('AUDIT_KEY is missing: a search needs it.');

const count = { found: 0, torn: 0, tornAfter: 0 };
const lines = linesIn(positionals, audit.file);
for await (const line of findEntries(lines, sought, audit.keys, count)) {
  process.stdout.write(`${line}\n`);
}
const { found, torn, tornAfter } = count;
// A full disk tears lines; after a torn line `before` nothing was sent.
const after = tornAfter === 0 ? '' : ` (${tornAfter} after a lookup, whose outcome is lost)`;
process.stderr.write(`${found} entries${torn === 0 ? '' : `, ${torn} torn lines${after}`}\n`);
