import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import type { Attack } from '../attack.ts';
import { AUDIT_KEY } from '../stage.ts';
import { number, within } from '../values.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Signs at which some readers of lines end one. */
const SIGNS = ['\u2028', '\u2029', '\u0085', '\u000b', '\u000c', '\r', '\n', '\u001e', '\0'];

export const auditSearch: Attack = {
  name: 'audit-search',
  tries: 'to hide from a search of the audit log by signs in a subject',
  holds: 'the search prints a line before and one after each lookup, all of them whole',
  async run(stage) {
    const file = join(await stage.directory(), 'audit.jsonl');
    const { issuer, target } = await stage.callers({ AUDIT_LOG: file });
    for (const sign of SIGNS) {
      const token = await issuer.token({ scope: 'sim-swap:read', sub: `mallory${sign}x${sign}` });
      await target.ask(within(number(9)), { token });
    }
    const { stdout } = await promisify(execFile)(
      'npm',
      ['run', '--silent', 'audit', '--', '--number', number(9), file],
      { cwd: ROOT, env: { ...process.env, AUDIT_KEY, AUDIT_LOG: file } },
    );
    const lines = stdout.split('\n').filter((line) => line.includes('"audit":'));
    stage.equals('lines found', lines.length, 2 * SIGNS.length);
    const torn = lines.filter((line) => !isJson(line)).length;
    stage.equals('torn lines', torn, 0);
  },
};

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
