import { beforeEach, describe, expect, it } from 'vitest';
import { ExchangeLog } from '../../../src/http/resilience/exchangeLog.ts';
import type { Finding } from '../../../src/http/resilience/finding.ts';
import type { LogDetails } from '../../../src/log.ts';
import { TestClock } from '../../testClock.ts';

const REFUSED: Finding = {
  level: 'error',
  message: 'The operator refused our request.',
  details: { endpoint: 'check', status: 401 },
};
const DOWN: Finding = {
  level: 'warn',
  message: 'The operator is not available.',
  details: { endpoint: 'check', status: 503 },
};

describe('the log of exchanges', () => {
  let clock: TestClock;
  let lines: [level: string, message: string, details: LogDetails][];
  let exchangeLog: ExchangeLog;

  beforeEach(() => {
    clock = new TestClock();
    lines = [];
    const write =
      (level: string) =>
      (message: string, details: LogDetails = {}): void => {
        lines.push([level, message, details]);
      };
    exchangeLog = new ExchangeLog(
      { info: write('info'), warn: write('warn'), error: write('error') },
      clock,
    );
  });

  function report(finding: Finding, times = 1): void {
    for (let count = 1; count <= times; count += 1)
      exchangeLog.report(finding, `exchange-${count}`);
  }

  it('writes a new finding at once, with the correlator of its exchange', () => {
    report(REFUSED);
    expect(lines).toEqual([
      ['error', REFUSED.message, { ...REFUSED.details, correlator: 'exchange-1' }],
    ]);
  });

  it('writes what differs line by line, and what repeats once', () => {
    report(REFUSED, 1000);
    report(DOWN, 1000);
    expect(lines.map(([, message]) => message)).toEqual([REFUSED.message, DOWN.message]);
  });

  it('sums repeats up once a minute, at the next exchange', async () => {
    report(DOWN, 1000);
    await clock.advance(59_999);
    exchangeLog.sumUp();
    expect(lines).toHaveLength(1);
    await clock.advance(1);
    exchangeLog.sumUp();
    expect(lines.slice(1)).toEqual([
      ['warn', DOWN.message, { ...DOWN.details, repeats: 999, seconds: 60 }],
    ]);
  });

  it('an outage of ten minutes is eleven lines', async () => {
    for (let second = 0; second < 600; second += 1) {
      report(DOWN, 10);
      await clock.advance(1000);
    }
    exchangeLog.close();
    expect(lines).toHaveLength(11);
    const repeats = lines.map(([, , details]) => Number(details['repeats'] ?? 1));
    expect(repeats.reduce((sum, one) => sum + one, 0)).toBe(6000);
  });

  it('forgets what did not repeat: it is new when it comes again', async () => {
    report(DOWN);
    await clock.advance(60_000);
    report(DOWN);
    expect(lines.map(([, , details]) => details['correlator'])).toEqual([
      'exchange-1',
      'exchange-1',
    ]);
  });

  it('writes the sums that are left when it closes, and nothing twice', () => {
    report(DOWN, 3);
    exchangeLog.close();
    exchangeLog.close();
    expect(lines.map(([, , details]) => details['repeats'])).toEqual([undefined, 2]);
  });

  it('holds no more than a hundred findings apart, and counts the rest', () => {
    for (let status = 300; status < 1300; status += 1) {
      report({ ...DOWN, details: { endpoint: 'check', status } });
    }
    exchangeLog.close();
    expect(lines).toHaveLength(102);
    expect(lines.at(-1)?.[2]).toMatchObject({ repeats: 899 });
  });
});
