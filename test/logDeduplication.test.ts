import { describe, expect, it } from 'vitest';
import type { Log } from '../src/log/log.ts';
import { sumUpRepeats } from '../src/log/logDeduplication.ts';
import { RecordedLog } from './recordedLog.ts';
import { TestClock } from './testClock.ts';

function summing() {
  const log = new RecordedLog();
  const clock = new TestClock();
  return { lines: log.lines, clock, summed: sumUpRepeats(log, clock) };
}

describe('a log that sums up repeats', () => {
  it('writes the first of a kind at once, and the others as one line after a minute', async () => {
    const { lines, clock, summed } = summing();

    for (let count = 1; count <= 500; count += 1) {
      summed.warn('an exchange failed', { endpoint: 'check', correlator: `c-${count}` });
    }
    const kind = { level: 'warn', message: 'an exchange failed', endpoint: 'check' };
    const first = { ...kind, correlator: 'c-1' };
    expect(lines).toEqual([first]);

    await clock.advance(60_000);
    expect(lines).toEqual([first, { ...kind, correlator: 'c-500', repeats: 499 }]);
  });

  it.each([
    ['another level', (log: Log) => log.error('slow', { endpoint: 'check' })],
    ['another message', (log: Log) => log.warn('lost', { endpoint: 'check' })],
    ['another detail', (log: Log) => log.warn('slow', { endpoint: 'token' })],
  ])('takes %s for another kind', (_name, write) => {
    const { lines, summed } = summing();
    summed.warn('slow', { endpoint: 'check' });
    write(summed);
    expect(lines).toHaveLength(2);
  });

  it('tells an outage that goes on in one line a minute, and what comes after a quiet minute at once', async () => {
    const { lines, clock, summed } = summing();
    for (let second = 0; second < 180; second += 1) {
      summed.warn('down');
      await clock.advance(1000);
    }
    expect(lines.map(({ repeats }) => repeats)).toEqual([undefined, 59, 60, 60]);

    await clock.advance(120_000);
    expect(clock.sleepers).toBe(0);
    summed.warn('down');
    expect(lines).toHaveLength(5);
  });

  it('tells what is left when it closes, and then everything at once, with no timer left', () => {
    const { lines, clock, summed } = summing();
    summed.warn('down');
    summed.warn('down');
    summed.close();
    summed.info('drained');
    summed.info('drained');

    expect(lines.map(({ message, repeats }) => [message, repeats])).toEqual([
      ['down', undefined],
      ['down', 1],
      ['drained', undefined],
      ['drained', undefined],
    ]);
    expect(clock.sleepers).toBe(0);
  });

  it('writes a bounded number of lines a minute, whatever is logged', async () => {
    const { lines, clock, summed } = summing();
    for (let count = 0; count < 100_000; count += 1) {
      summed.warn(`message ${count % 1000}`, { detail: `${count} ${'x'.repeat(200)}` });
    }
    await clock.advance(60_000);

    expect(lines.length).toBeLessThan(1000);
    const firsts = lines.filter(({ repeats }) => repeats === undefined);
    const repeated = lines.reduce((sum, { repeats = 0 }) => sum + Number(repeats), 0);
    expect(firsts.length + repeated).toBe(100_000);
  });
});
