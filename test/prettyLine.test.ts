import { describe, expect, it } from 'vitest';
import { prettyLine } from '../src/log/log.ts';
import { Program } from './program.ts';

const TIME = '2026-11-22T09:12:33.456Z';

const pretty = (line: object, hasColors = false) =>
  prettyLine({ level: 30, time: TIME, msg: '', ...line }, hasColors);

describe('a line of the log in a terminal', () => {
  it.each([
    [{ msg: 'ready' }, '09:12:33 INFO  ready\n'],
    [
      { msg: 'listening', host: '127.0.0.1', port: 4000 },
      '09:12:33 INFO  listening host=127.0.0.1 port=4000\n',
    ],
    [{ level: 40, msg: 'slow', what: 'two words' }, '09:12:33 WARN  slow what="two words"\n'],
    [
      { level: 50, msg: 'a request broke', isNew: true },
      '09:12:33 ERROR a request broke isNew=true\n',
    ],
    [
      { level: 20, msg: 'exchange', codes: 'FORBIDDEN OPERATOR_TIMEOUT', ms: 1.5 },
      '09:12:33 DEBUG exchange codes="FORBIDDEN OPERATOR_TIMEOUT" ms=1.5\n',
    ],
  ])('of %j is for people', (line, text) => {
    expect(pretty(line)).toBe(text);
  });

  it('has colours where the terminal has', () => {
    const line = pretty({ level: 50, msg: 'broken', code: 1 }, true);
    expect(line).toContain('\u001B[31mERROR\u001B[39m');
    expect(line).toContain('\u001B[2mcode=\u001B[22m1');
  });

  it.each(['\u001B[2J', '\u009B2J', '\u202Ekcab', '\r\n09:00:00 INFO  forged', '\u2028'])(
    'shows %j, and does not send it to the terminal',
    (nasty) => {
      const line = pretty({ msg: nasty, [nasty.slice(0, 2)]: 1, value: nasty });
      expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
    },
  );
});

describe('standard output', () => {
  const script = `import { createLog } from ${JSON.stringify(new URL('../src/log/log.ts', import.meta.url).href)};
    createLog().warn('asked about +447700900001', { port: 4000 });`;
  const command = [process.execPath, '--input-type=module', '--eval', script];

  it('has lines for people where it is a terminal', async () => {
    const quoted = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
    await using terminal = new Program('script', ['-qec', quoted, '/dev/null'], { NO_COLOR: '1' });
    await terminal.ended;
    expect(terminal.out).toMatch(/^\d\d:\d\d:\d\d WARN {2}asked about \[number\] port=4000\r?\n$/);
  });
});
