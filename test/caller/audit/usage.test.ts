import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/caller/audit/entry.ts';
import {
  UsageReport,
  usageCsv,
  usageTable,
  type Dimension,
  type Usage,
} from '../../../src/caller/audit/usage.ts';
import type { Price } from '../../../src/domain/price.ts';

const PRICE: Price = {
  currency: 'EUR',
  microsPerLookup: { 'retrieve-date': 20_000, check: 15_500 },
};

/** Unknown, not zero. */
const NO_PRICE = { lookups: 1, price: undefined };

type Line = Partial<Omit<AuditEntry, 'caller'>> & { readonly client?: string };

/** The line after a lookup, or another one. */
function line({ client = 'risk-desk', audit = 'after', ...others }: Line = {}): string {
  return JSON.stringify({
    audit,
    time: '2026-11-03T12:00:00.000Z',
    event: 'lookup',
    caller: { issuer: 'https://issuer.example', subject: 'a'.repeat(64), client },
    purpose: 'fraud-prevention',
    number: 'b'.repeat(64),
    operator: 'north',
    operation: 'check',
    maxAgeHours: 240,
    correlator: 'trace',
    ...(audit === 'after' ? { outcome: 'answered', attempts: 1 } : {}),
    ...others,
  });
}

function reportOf(lines: readonly string[], by: readonly Dimension[] = ['operator']): UsageReport {
  const report = new UsageReport(by, {}, (name) => (name === 'free' ? undefined : PRICE));
  for (const one of lines) report.add(one);
  return report;
}

describe('usage', () => {
  const before = line({ audit: 'before' });
  const late = line({ attempts: 2, outcome: 'OPERATOR_TIMEOUT' });
  const notSent = line({ attempts: 0, outcome: 'OPERATOR_UNAVAILABLE' });
  const passedOver = [
    line({ event: 'consent-status', audit: 'before' }),
    '{"audit":"start","time":"2026-11-03T12:00:00.000Z"}',
    '{"level":30,"msg":"Listening."}',
  ];

  it.each<[what: string, lines: readonly string[], usage: Partial<Usage>]>([
    [
      'lookup is its line after',
      [before, line()],
      { lookups: 1, attempts: 1, unfinished: 0, price: 15_500 },
    ],
    ['line before that has none after is unfinished', [before], { lookups: 0, unfinished: 1 }],
    ['attempt is billed', [late, notSent], { lookups: 2, attempts: 2, price: 31_000 }],
    ['operation has its price', [line(), line({ operation: 'retrieve-date' })], { price: 35_500 }],
    ['shared answer is saved', [line({ audit: 'shared' })], { lookups: 0, saved: 1, price: 0 }],
    ['kept answer is saved', [line({ audit: 'kept' })], { lookups: 0, saved: 1, price: 0 }],
    ['prompt is a consent', [line({ event: 'consent-request' })], { lookups: 0, consents: 1 }],
    ['prompt has no price', [line({ event: 'consent-request' })], { attempts: 0, price: 0 }],
    ['lookup without a price makes the sum unknown', [line({ operator: 'free' })], NO_PRICE],
    [
      'other line of the log is passed over',
      [...passedOver, line()],
      { lookups: 1, unfinished: 0 },
    ],
  ])('each %s', (_what, lines, usage) => {
    expect(reportOf(lines).usages).toMatchObject([usage]);
  });

  it('counts by each of the dimensions', () => {
    const others = [{ client: 'bff' }, { time: '2026-11-04T00:00:00.000Z' }, { operator: 'south' }];
    const lines = [{}, ...others].map((one) => line(one));
    const { usages } = reportOf(lines, ['day', 'operator', 'client']);
    expect(usages.map(({ group, lookups }) => [...group, lookups])).toEqual([
      ['2026-11-03', 'north', 'bff', 1],
      ['2026-11-03', 'north', 'risk-desk', 1],
      ['2026-11-03', 'south', 'risk-desk', 1],
      ['2026-11-04', 'north', 'risk-desk', 1],
    ]);
  });

  it('has a bounded number of groups, and loses no lookup', () => {
    const lines = 100_010;
    const report = new UsageReport(['client'], {}, () => PRICE);
    for (let index = 0; index < lines; index += 1) report.add(line({ client: `client-${index}` }));
    expect(report.count.overflowed).toBe(10);
    expect(report.usages.reduce((sum, { lookups }) => sum + lookups, 0)).toBe(lines);
  });

  it('does not depend on the order of the lines or of the dimensions', () => {
    const anyLine = fc
      .record({
        audit: fc.constantFrom('before', 'after', 'shared', 'kept'),
        event: fc.constantFrom('lookup', 'consent-request'),
        operator: fc.constantFrom('north', 'south'),
        operation: fc.constantFrom('check', 'retrieve-date'),
        client: fc.constantFrom('a', 'b', '__proto__', 'constructor'),
        attempts: fc.nat(2),
      })
      .map(line);
    fc.assert(
      fc.property(fc.array(anyLine, { maxLength: 40 }), fc.nat(), (lines, seed) => {
        const shuffled = lines.toSorted(
          (a, b) => ((a.length * seed) % 7) - ((b.length * seed) % 7),
        );
        const by: readonly Dimension[] = ['operator', 'client'];
        expect(reportOf(shuffled, by).usages).toEqual(reportOf(lines, by).usages);
        const sum = (one: readonly Dimension[]) =>
          reportOf(lines, one).usages.reduce((total, { attempts }) => total + attempts, 0);
        expect(sum(['client', 'operation'])).toBe(sum(['operator']));
      }),
    );
  });
});

describe('the report', () => {
  const FORMULAS = ['=1+1', '+1', '-1', '@x', '\tx', ' =1', '\n=1', '\uff1d1'];
  const NASTY = [...FORMULAS, 'a,b', 'a"b', 'a\nb', '\u001b[2J', '\u009b2J', 'a\u202eb'];
  const lines = NASTY.map((client) => line({ client }));
  const { usages } = reportOf(lines, ['client']);

  it('is CSV in which no name of a client is a formula or a further cell', () => {
    const csv = usageCsv(['client'], usages, 'EUR');
    expect(csv).not.toMatch(/(?:^|\n)[=+@\t]/);
    expect(csv).not.toMatch(/(?:^|[\n"])\s*[=+@\uff1d]/);
    expect(csv.replaceAll('\r\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(csv.split('\r\n')).toHaveLength(NASTY.length + 2);
    expect(csv).toContain(`"a,b",1,1,0,0,0,0.0155,answered 1`);
  });

  it('is a table without characters that move a cursor', () => {
    const table = usageTable(['client'], usages, 'EUR');
    // eslint-disable-next-line no-control-regex -- they are what it looks for
    expect(table).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(table.split('\n')).toHaveLength(NASTY.length + 3);
  });

  it('ends with a total', () => {
    const report = reportOf([line(), line({ operator: 'south', attempts: 2 })]);
    expect(usageTable(['operator'], report.usages, 'EUR').split('\n')).toEqual([
      'operator  lookups  attempts  consents  saved  unfinished  price EUR  outcomes',
      'north           1         1         0      0           0     0.0155  answered 1',
      'south           1         2         0      0           0      0.031  answered 1',
      'total           2         3         0      0           0     0.0465',
      '',
    ]);
  });
});
