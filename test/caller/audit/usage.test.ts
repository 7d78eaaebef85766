import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/caller/audit/entry.ts';
import {
  UsageReport,
  usageCsv,
  usageTable,
  type Dimension,
  type UsageRange,
} from '../../../src/caller/audit/usage.ts';
import type { Price } from '../../../src/domain/price.ts';

const PRICE: Price = {
  currency: 'EUR',
  microsPerLookup: { 'retrieve-date': 20_000, check: 15_500 },
};

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

function reportOf(
  lines: readonly string[],
  by: readonly Dimension[] = ['operator'],
  range: UsageRange = {},
): UsageReport {
  const report = new UsageReport(by, range, (name) => (name === 'free' ? undefined : PRICE));
  for (const one of lines) report.add(one);
  return report;
}

describe('usage', () => {
  it.each<[what: string, lines: readonly string[], usage: object]>([
    [
      'a lookup is its line after; the line before alone is unfinished',
      [line({ audit: 'before' }), line(), line({ audit: 'before' })],
      { lookups: 1, attempts: 1, unfinished: 1, price: 15_500 },
    ],
    [
      'each attempt is billed, and a lookup of which nothing left is not',
      [
        line({ attempts: 2, outcome: 'OPERATOR_TIMEOUT' }),
        line({ attempts: 0, outcome: 'OPERATOR_UNAVAILABLE' }),
      ],
      { lookups: 2, attempts: 2, price: 31_000 },
    ],
    [
      'each operation has its price',
      [line(), line({ operation: 'retrieve-date' })],
      { lookups: 2, price: 35_500 },
    ],
    [
      'what was shared or kept is saved, and never billed',
      [line({ audit: 'shared' }), line({ audit: 'kept' })],
      { lookups: 0, saved: 2, price: 0 },
    ],
    [
      'a prompt is a consent and no lookup',
      [line({ event: 'consent-request', outcome: 'asked' })],
      { lookups: 0, consents: 1, attempts: 0, price: 0 },
    ],
    [
      'an operator without a price makes the sum unknown, not zero',
      [line({ operator: 'free' })],
      { lookups: 1, price: undefined },
    ],
    [
      'the state of a consent is no usage, nor is a start, nor another line of the log',
      [
        line({ event: 'consent-status', audit: 'before' }),
        '{"audit":"start","time":"2026-11-03T12:00:00.000Z"}',
        '{"level":30,"msg":"listening"}',
        line(),
      ],
      { lookups: 1, unfinished: 0 },
    ],
  ])('%s', (_what, lines, usage) => {
    expect(reportOf(lines).usages).toMatchObject([usage]);
  });

  it('counts by all that is asked for', () => {
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

  it('counts from a time on, and before another', () => {
    const days = ['02T23:59:59.999', '03T00:00:00.000', '03T23:59:59.999', '04T00:00:00.000'];
    const lines = days.map((day) => line({ time: `2026-11-${day}Z` }));
    const range = { sinceMs: Date.UTC(2026, 10, 3), untilMs: Date.UTC(2026, 10, 4) };
    expect(reportOf(lines, ['operator'], range).usages).toMatchObject([{ lookups: 2 }]);
  });

  it('tells of lines that are torn', () => {
    const report = reportOf([line(), line().slice(0, 50), `${line().slice(0, 90)}${line()}`]);
    expect(report.count).toEqual({ lines: 3, torn: 2, overflowed: 0 });
    expect(report.usages).toMatchObject([{ lookups: 1 }]);
  });

  it('keeps no more groups than it may, and loses no lookup', () => {
    const lines = 100_010;
    const report = new UsageReport(['client'], {}, () => PRICE);
    for (let index = 0; index < lines; index += 1) report.add(line({ client: `client-${index}` }));
    expect(report.count.overflowed).toBe(10);
    expect(report.usages.reduce((sum, { lookups }) => sum + lookups, 0)).toBe(lines);
  });

  it('is the same whatever the order of the lines and of the dimensions', () => {
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
  const NASTY = [...FORMULAS, 'a,b', 'a"b', 'a\nb', '\u001b[2J'];
  const lines = NASTY.map((client) => line({ client }));
  const { usages } = reportOf(lines, ['client']);

  it('is CSV in which no name of a client is a formula or a cell more', () => {
    const csv = usageCsv(['client'], usages, 'EUR');
    expect(csv).not.toMatch(/(?:^|\n)[=+@\t]/);
    expect(csv).not.toMatch(/(?:^|[\n"])\s*[=+@\uff1d]/);
    expect(csv.split('\r\n')).toHaveLength(NASTY.length + 2);
    expect(csv).toContain(`"a,b",1,1,0,0,0,0.0155,answered 1`);
  });

  it('is a table without signs that move a cursor', () => {
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
