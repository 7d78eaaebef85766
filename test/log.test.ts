import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { prettyLine, type Log } from '../src/log/log.ts';
import { sumUpRepeats } from '../src/log/logDeduplication.ts';
import { follow } from '../src/system/fromFiles.ts';
import { Program } from './support/program.ts';
import { RecordedLog } from './support/recordedLog.ts';
import { TemporaryFiles } from './support/temporary.ts';
import { TestClock } from './support/testClock.ts';

const IMPORT = `import { createLog } from ${JSON.stringify(new URL('../src/log/log.ts', import.meta.url).href)};`;

describe('the log', () => {
  const OF_OURS = {
    host: '10.20.30.40',
    port: 40123,
    operators: '127.0.0.1',
    correlator: '0b9ad6f2-2d5c-4a0e-9e61--Xk2345678901-1',
  };

  it('writes JSON lines from a level up, and masks phone numbers in every text', async () => {
    const statements = `const log = createLog();
      log.info('one', { count: 3, isReady: true, name: undefined });
      createLog('warn').info('of a lower level');
      log.info('a limit of 10000', ${JSON.stringify(OF_OURS)});
      log.info('asked about +447700900001 twice');
      log.warn('slow', { path: '/lines/%2B447700900001', reason: 'tel:+44 7700 900001' });
      log.error('07700 900001');`;
    const words = ['--input-type=module', '--eval', IMPORT + statements];
    const { stdout } = await promisify(execFile)(process.execPath, words);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      { level: 30, time, count: 3, isReady: true, msg: 'one' },
      { level: 30, time, ...OF_OURS, msg: 'a limit of 10000' },
      { level: 30, time, msg: 'asked about [number] twice' },
      { level: 40, time, path: '/lines/[number]', reason: 'tel:[number]', msg: 'slow' },
      { level: 50, time, msg: '[number]' },
    ]);
  });

  it('writes lines for people where standard output is a terminal', async () => {
    const statements = `createLog().warn('asked about +447700900001', { port: 4000 });`;
    const words = [process.execPath, '--input-type=module', '--eval', IMPORT + statements];
    const quoted = words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
    await using terminal = new Program('script', ['-qec', quoted, '/dev/null'], { NO_COLOR: '1' });
    await terminal.ended;
    expect(terminal.out).toMatch(/^\d\d:\d\d:\d\d WARN {2}asked about \[number\] port=4000\r?\n$/);
  });
});

const TIME = '2026-11-22T09:12:33.456Z';

const pretty = (line: object, hasColors = false) =>
  prettyLine({ level: 30, time: TIME, msg: '', ...line }, hasColors);

describe('a line of the log in a terminal', () => {
  it.each([
    [{ msg: 'ready' }, 'INFO  ready'],
    [{ msg: 'Listening.', host: '::1', port: 4000 }, 'INFO  Listening. host=::1 port=4000'],
    [{ level: 40, msg: 'slow', what: 'two words' }, 'WARN  slow what="two words"'],
    [{ level: 50, msg: 'It broke.', isNew: true }, 'ERROR It broke. isNew=true'],
    [{ level: 20, msg: 'exchange', ms: 1.5 }, 'DEBUG exchange ms=1.5'],
  ])('of %j', (line, text) => {
    expect(pretty(line)).toBe(`09:12:33 ${text}\n`);
  });

  it('has colours where the terminal has them', () => {
    const line = pretty({ level: 50, msg: 'broken', code: 1 }, true);
    expect(line).toContain('\u001B[31mERROR\u001B[39m');
    expect(line).toContain('\u001B[2mcode=\u001B[22m1');
  });

  it.each(['\u001B[2J', '\u009B2J', '\u202Ekcab', '\r\n09:00:00 INFO  forged', '\u2028'])(
    'replaces %j, which a terminal could obey',
    (nasty) => {
      const line = pretty({ msg: nasty, [nasty.slice(0, 2)]: 1, value: nasty });
      expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
    },
  );
});

function summing() {
  const log = new RecordedLog();
  const clock = new TestClock();
  return { lines: log.lines, clock, summed: sumUpRepeats(log, clock) };
}

const READ = { kind: 'read', value: undefined } as const;

describe('a log with summed repeats', () => {
  it('has a line for each rotation of a secret, also for two within a minute', async () => {
    const { lines, clock, summed } = summing();
    const files = new TemporaryFiles();
    const path = files.write('secret', 'one');
    const texts = new Map([[path, 'one']]);
    const unfollow = follow({ texts, read: () => READ }, { clock, log: summed }, () => undefined);
    for (const times of [1, 2]) {
      files.write('secret', `rotated ${times} times`);
      await vi.waitUntil(
        async () => {
          await clock.advance(500);
          return lines.length === times;
        },
        { interval: 2, timeout: 10_000 },
      );
    }
    unfollow();
    expect(lines.map(({ times }) => times)).toEqual([1, 2]);
  });

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
  ])('has another kind for %s', (_name, write) => {
    const { lines, summed } = summing();
    summed.warn('slow', { endpoint: 'check' });
    write(summed);
    expect(lines).toHaveLength(2);
  });

  it('writes a line a minute during an outage, and the first line after a quiet minute at once', async () => {
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

  it('writes what waits when it closes, and then each line at once, without a timer', () => {
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

  it('writes a bounded number of lines a minute', async () => {
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
