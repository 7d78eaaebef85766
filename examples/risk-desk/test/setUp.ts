import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'vite';

const run = promisify(execFile);

/** Builds the page that the tests open, and sees that the supergraph beside this example can start. */
export async function setup(): Promise<void> {
  const supergraph = fileURLToPath(new URL('../../supergraph', import.meta.url));
  if (!existsSync(`${supergraph}/node_modules/.package-lock.json`)) {
    await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: supergraph });
  }
  const configFile = fileURLToPath(new URL('../vite.config.ts', import.meta.url));
  // vitest says that this is a test; the page that people get is built for production.
  await build({ configFile, logLevel: 'error', mode: 'production' });
}
