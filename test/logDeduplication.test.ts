import { describe, expect, it } from 'vitest';
import type { Log, LogDetails } from '../src/log/log.ts';
import { sumUpRepeats } from '../src/log/logDeduplication.ts';
import { TestClock } from './testClock.ts';

interface Line {
  readonly level: string;
  readonly message: string;
  readonly details: LogDetails;
}

function recorded(): { lines: Line[]; log: Log } {
  const lines: Line[] = [];
  const write =
    (level: string) =>
    (message: string, details: LogDetails = {}): void => {
      lines.push({ level, message, details });
    };
  return { lines, log: { info: write('info'), warn: write('warn'), error: write('error') } };
}

describe('a log that sums up repeats', () => {
  it('writes the first of a kind at once, and the others as one line after a minute', async () => {
    const { lines, log } = recorded();
    const clock = new TestClock();
    const summed = sumUpRepeats(log, clock);

    for (let count = 1; count <= 500; count += 1) {
      summed.warn('an exchange failed', { endpoint: 'check', correlator: `c-${count}` });
    }
    const first = {
      level: 'warn',
      message: 'an exchange failed',
      details: { endpoint: 'check', correlator: 'c-1' },
    };
    expect(lines).toEqual([first]);

    await clock.advance(60_000);
    expect(lines).toEqual([
      first,
      { ...first, details: { endpoint: 'check', correlator: 'c-500', repeats: 499 } },
    ]);
  });

  it.each([
    ['another level', (log: Log) => log.error('slow', { endpoint: 'check' })],
    ['another message', (log: Log) => log.warn('lost', { endpoint: 'check' })],
    ['another detail', (log: Log) => log.warn('slow', { endpoint: 'token' })],
  ])('takes %s for another kind', (_name, write) => {
    const { lines, log } = recorded();
    const summed = sumUpRepeats(log, new TestClock());
    summed.warn('slow', { endpoint: 'check' });
    write(summed);
    expect(lines).toHaveLength(2);
  });

  it('tells an outage that goes on in one line a minute, and what comes after a quiet minute at once', async () => {
    const { lines, log } = recorded();
    const clock = new TestClock();
    const summed = sumUpRepeats(log, clock);
    for (let second = 0; second < 180; second += 1) {
      summed.warn('down');
      await clock.advance(1000);
    }
    expect(lines.map(({ details }) => details['repeats'])).toEqual([undefined, 59, 60, 60]);

    await clock.advance(120_000);
    expect(clock.sleepers).toBe(0);
    summed.warn('down');
    expect(lines).toHaveLength(5);
  });

  it('tells what is left when it closes, and then everything at once, with no timer left', () => {
    const { lines, log } = recorded();
    const clock = new TestClock();
    const summed = sumUpRepeats(log, clock);
    summed.warn('down');
    summed.warn('down');
    summed.close();
    summed.info('drained');
    summed.info('drained');

    expect(lines.map(({ message, details }) => [message, details['repeats']])).toEqual([
      ['down', undefined],
      ['down', 1],
      ['drained', undefined],
      ['drained', undefined],
    ]);
    expect(clock.sleepers).toBe(0);
  });

  it('writes a bounded number of lines a minute, whatever is logged', async () => {
    const { lines, log } = recorded();
    const clock = new TestClock();
    const summed = sumUpRepeats(log, clock);
    for (let count = 0; count < 100_000; count += 1) {
      summed.warn(`message ${count % 1000}`, { detail: `${count} ${'x'.repeat(200)}` });
    }
    await clock.advance(60_000);

    expect(lines.length).toBeLessThan(1000);
    const told = lines.reduce((sum, { details }) => sum + 1 + Number(details['repeats'] ?? -1), 0);
    expect(told).toBeLessThanOrEqual(100_000);
    const repeats = lines.reduce((sum, { details }) => sum + Number(details['repeats'] ?? 0), 0);
    expect(repeats + lines.filter(({ details }) => details['repeats'] === undefined).length).toBe(
      100_000,
    );
  });
});
