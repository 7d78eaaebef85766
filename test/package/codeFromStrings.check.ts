import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { askAt } from '../support/service.ts';
import { NpmProcess } from './npmProcess.ts';
import { temporaryFolder } from '../support/temporary.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FLAG = '--disallow-code-generation-from-strings';
const NO_DEBUGGER = '--disable-sigusr1';

/** graphql-jit's own mark for a date: a literal behind it once became source code. */
const MAGIC_DATE = '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d';

/** Notes of each Node that loads it whether a string can become code there. */
const PROBE = `data:text/javascript,${encodeURIComponent(`
  import { appendFileSync } from 'node:fs';
  let refused = false;
  try { new Function('return 1'); } catch { refused = true; }
  const program = (process.argv[1] ?? '').split('/').slice(-3).join('/');
  appendFileSync(process.env.PROBE_FILE, process.pid + ' ' + program + ' ' + (refused ? 'refused' : 'allowed') + '\\n');
`)}`;

async function npmStart(settings: Readonly<Record<string, string>>) {
  const npm = new NpmProcess(['start'], { PORT: '0', ...settings });
  const [url] = await npm.written(/http:\/\/127\.0\.0\.1:\d+(?=\/graphql)/);
  return { npm, url };
}

describe('what a caller writes', () => {
  test('never becomes code: a repeated literal is data', async () => {
    const file = join(temporaryFolder(), 'written-by-a-literal');
    const code = `process.getBuiltinModule('fs').writeFileSync('${file}','x')`;
    const { url } = await npmStart({});

    for (let time = 0; time < 6; time += 1) {
      await askAt(url, `{ phoneNumber(e164: "${MAGIC_DATE}${code}") { e164 } }`);
    }

    expect(existsSync(file)).toBe(false);
    const query = '{ phoneNumber(e164: "+447700900001") { simSwappedWithin(maxAgeHours: 24) } }';
    expect((await askAt(url, query)).data).toEqual({ phoneNumber: { simSwappedWithin: true } });
  });

  test('could not become code: npm start runs Node without code from strings, the simulator too, and SIGUSR1 opens no debugger', async () => {
    const file = join(temporaryFolder(), 'probe');
    const { npm, url } = await npmStart({ NODE_OPTIONS: `--import "${PROBE}"`, PROBE_FILE: file });

    const lines = readFileSync(file, 'utf8').split('\n');
    const programs = lines.filter((line) => /\b(?:src|simulator)\/main\.ts /.test(line));
    expect(programs.map((line) => line.split(' ').at(-1))).toEqual(['refused', 'refused']);

    for (const line of programs) process.kill(Number.parseInt(line, 10), 'SIGUSR1');
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    npm.signal('SIGTERM');
    await npm.ended;
    expect(npm.err).not.toContain('Debugger listening');
  });
});

describe('every script that starts a program of ours', () => {
  test.each(['package.json', 'examples/mobile-bff/package.json'])(
    'of %s has the flag',
    (manifest) => {
      const { scripts } = JSON.parse(readFileSync(join(ROOT, manifest), 'utf8')) as {
        readonly scripts: Readonly<Record<string, string>>;
      };
      // Servers of others, some of which compile what they serve, and the site's generator.
      const { compatibility: _, docs: _docs, ...ours } = scripts;
      const started = Object.values(ours).flatMap((one) => one.match(/(?<!\/)\bnode .*/g) ?? []);
      expect(started.filter((command) => !command.startsWith(`node ${FLAG} `))).toEqual([]);
    },
  );

  test('by scripts/node has it too', () => {
    expect(readFileSync(join(ROOT, 'scripts/node'), 'utf8')).toContain(
      `exec node ${FLAG} ${NO_DEBUGGER} `,
    );
  });
});
