import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const LOG_MODULE = new URL('../src/log/log.ts', import.meta.url).href;

async function linesOf(statements: string): Promise<Record<string, unknown>[]> {
  const script = `import { createLog } from ${JSON.stringify(LOG_MODULE)}; const log = createLog(); ${statements}`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    script,
  ]);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('the log', () => {
  it('writes one line of JSON for each message, with its level, time and details', async () => {
    const lines = await linesOf(`
      log.info('one', { count: 3, isReady: true });
      log.warn('two');
      log.error('three', { name: undefined });
    `);
    expect(lines).toEqual([
      { level: 30, time: expect.any(String), count: 3, isReady: true, msg: 'one' },
      { level: 40, time: expect.any(String), msg: 'two' },
      { level: 50, time: expect.any(String), msg: 'three' },
    ]);
    for (const { time } of lines) expect(time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  const DETAILS = {
    host: '10.20.30.40',
    port: 40123,
    operators: '127.0.0.1',
    correlator: '0b9ad6f2-2d5c-4a0e-9e61--Xk2345678901-1',
  };

  it('masks phone numbers in messages and in details, and nothing that is out of reach of callers; says nothing below its level', async () => {
    const lines = await linesOf(`
      createLog('warn').info('of a lower level');
      log.info('a limit of 10000', ${JSON.stringify(DETAILS)});
      log.info('asked about +447700900001 twice');
      log.warn('slow', { path: '/lines/%2B447700900001', reason: 'tel:+44 7700 900001' });
      log.error('07700 900001');
    `);
    expect(lines).toMatchObject([
      { msg: 'a limit of 10000', ...DETAILS },
      { msg: 'asked about [number] twice' },
      { msg: 'slow', path: '/lines/[number]', reason: 'tel:[number]' },
      { msg: '[number]' },
    ]);
    expect(JSON.stringify(lines.map((line) => ({ ...line, time: '' })))).not.toMatch(/7700|900001/);
  });
});
