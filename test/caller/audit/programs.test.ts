import { truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { auditHash } from '../../../src/caller/audit/entry.ts';
import { findEntries, type Sought } from '../../../src/caller/audit/findEntries.ts';
import { linesIn } from '../../../src/commands/arguments.ts';
import { Program } from '../../support/program.ts';
import { runsOf } from '../../support/runs.ts';
import { ALICE, BOB } from '../../support/values.ts';
import { entryAt, OperatorsFile } from '../../support/operatorsFile.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const DAY_MS = 86_400_000;
const DAY_2_MS = Date.UTC(2026, 10, 2);
const AUDIT_KEY = 'a-key-of-at-least-thirty-two-characters';

function line(day: string, others: object = {}): string {
  return JSON.stringify({
    audit: 'after',
    time: `2026-11-${day}T00:00:00.000Z`,
    event: 'lookup',
    caller: { subject: auditHash(AUDIT_KEY, 'alice'), client: 'risk-desk' },
    purpose: 'fraud-prevention',
    number: auditHash(AUDIT_KEY, ALICE),
    operator: 'north',
    operation: 'check',
    correlator: `ticket-${day}-VB6KvH6PLAVG`,
    outcome: 'answered',
    attempts: 1,
    ...others,
  });
}

function write(name: string, content: string | Buffer, writtenAtSeconds: number): void {
  writeFileSync(name, content);
  utimesSync(name, writtenAtSeconds, writtenAtSeconds);
}

/** An audit log that was rotated twice: the oldest part is gzipped. */
function rotatedLog(): string {
  const directory = temporaryFolder();
  const file = join(directory, 'audit.jsonl');
  write(`${file}.2.gz`, gzipSync(`${line('01')}\n${line('02', { operator: 'south' })}\n`), 1);
  const other = '{"level":30,"msg":"a line of the log"}';
  write(`${file}.1`, `${line('03', { outcome: 'OPERATOR_TIMEOUT' })}\n${other}\n`, 2);
  const ofBob = line('05', { number: auditHash(AUDIT_KEY, BOB), caller: { client: 'bff' } });
  const torn = [line('06'), line('07', { audit: 'before' })].map((one) => one.slice(0, 60));
  write(file, [line('04'), ofBob, ...torn, ''].join('\n'), 3);
  write(join(directory, 'audit.jsonlines'), `${line('09')}\n`, 4);
  return file;
}

function linesOf({ out = '' }: { readonly out?: string } = {}): readonly string[] {
  return out.split('\n').slice(0, -1);
}

function dayOf(text: string): string {
  return (JSON.parse(text) as { time: string }).time.slice(8, 10);
}

/** Of `npm run usage`. */
const REFUSED: readonly (readonly [auditLog: string, words: string, err: RegExp])[] = [
  ['', '', /^Name a FILE, or set AUDIT_LOG/],
  ['/nowhere/audit.jsonl', '', /cannot be read/],
  // A typo must not read like a log without a lookup.
  [`${tmpdir()}/no-such-audit.jsonl`, '', /^AUDIT_LOG names no file/],
  ['', '--since 2026-11-31', /^--since must be a day/],
  ['', '--by number', /^--by knows day, operator/],
  ['', '--format pdf', /^--format must be table or csv/],
  ['', '--month 11', /^Unknown option '--month'\.\nnpm run usage --/],
];
const IN_DAYS = '--by operator --format csv --since 2026-11-02 --until 2026-11-05';
/** The runs of `npm run usage`, and one of `npm run audit`. That their processes end: below, and test/canary. */
const ended = runsOf('src/commands/usageReport.ts', () => {
  const price = { currency: 'EUR', check: '0.0155' };
  const file = new OperatorsFile(
    ['north', 'south'].map((name, index) =>
      entryAt('https://operator.example', { name, prefixes: [`+4${index}`], price }),
    ),
  );
  const cutOff = rotatedLog();
  truncateSync(`${cutOff}.2.gz`, 60);
  const priced = { AUDIT_LOG: rotatedLog(), OPERATORS_FILE: file.path };
  return [
    { words: IN_DAYS.split(' '), settings: priced },
    { words: [], settings: { AUDIT_LOG: cutOff, OPERATORS_FILE: '' } },
    {
      program: 'src/commands/auditSearch.ts',
      words: [],
      settings: { AUDIT_KEY, AUDIT_LOG: rotatedLog() },
    },
    ...REFUSED.map(([AUDIT_LOG, words]) => ({
      words: words.split(' ').filter(Boolean),
      settings: { AUDIT_LOG },
    })),
  ];
});

describe('npm run usage', () => {
  test('sums up the audit log with its rotated files, from one day to another', () => {
    const summed = ended(0);
    expect(summed?.code).toBe(0);
    expect(linesOf(summed)).toEqual([
      'operator,lookups,attempts,consents,saved,unfinished,price EUR,outcomes\r',
      'north,2,2,0,0,0,0.031,OPERATOR_TIMEOUT 1 · answered 1\r',
      'south,1,1,0,0,0,0.0155,answered 1\r',
    ]);
    expect(summed?.err).toMatch(/^8 lines in \d+\.\d s \(\d+ a second\), 2 torn lines\n$/);
  });

  test.each(REFUSED.map(([auditLog, words, err], index) => ({ auditLog, words, err, index })))(
    'AUDIT_LOG=$auditLog npm run usage -- $words ends with what to do',
    ({ err, index }) => {
      expect(ended(index + 3)).toEqual({ code: 1, out: '', err: expect.stringMatching(err) });
    },
  );

  test('reports nothing where a gzipped part is cut off', () => {
    const err: unknown = expect.stringContaining('audit.jsonl.2.gz cannot be read to its end.');
    expect(ended(1)).toEqual({ code: 1, out: '', err });
  });
});

describe('npm run audit', () => {
  test.each<[what: string, sought: Sought, days: readonly string[]]>([
    ['a number', { number: ALICE }, ['01', '02', '03', '04']],
    ['a client', { client: 'bff' }, ['05']],
    ['a subject and an outcome', { subject: 'alice', outcome: 'OPERATOR_TIMEOUT' }, ['03']],
    ['an operator', { operator: 'south' }, ['02']],
    ['a time', { sinceMs: DAY_2_MS, untilMs: DAY_2_MS + 2 * DAY_MS }, ['02', '03']],
    ['the correlator of a client', { correlator: 'ticket-03' }, ['03']],
    ['that of an exchange', { correlator: 'ticket-03-VB6KvH6PLAVG-2' }, ['03']],
    ['no part of a correlator', { correlator: 'ticket-0' }, []],
  ])('finds %s, the oldest first', async (_what, sought, days) => {
    const count = { found: 0, torn: 0, tornAfter: 0 };
    const found: string[] = [];
    const lines = findEntries(linesIn([], rotatedLog()), sought, [AUDIT_KEY], count);
    for await (const one of lines) found.push(dayOf(one));
    expect(found).toEqual(days);
    expect(count).toEqual({ found: days.length, torn: 2, tornAfter: 1 });
  });

  test('takes all of its options together', async () => {
    const words = ['--since', '2026-11-02', '--until', '2026-11-04', '--subject', 'alice'];
    const run = await Program.runNode(
      ['src/commands/auditSearch.ts', ...words, '--number', '+44 7700 900001'],
      { AUDIT_KEY, AUDIT_LOG: rotatedLog() },
    );
    expect(run.code).toBe(0);
    expect(run.err).toBe('2 entries, 2 torn lines (1 after a lookup, whose outcome is lost)\n');
    expect(linesOf(run).map(dayOf)).toEqual(['02', '03']);
  });

  test('says how it is used where nothing is searched for', () => {
    const err: unknown = expect.stringMatching(/^npm run audit --/);
    expect(ended(2)).toEqual({ code: 1, out: '', err });
  });
});
