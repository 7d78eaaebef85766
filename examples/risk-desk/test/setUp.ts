import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'vite';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    readonly pageDirectory: string;
  }
}

const run = promisify(execFile);

/** Builds the page that the tests open, and sees that the supergraph beside this example can start. */
export async function setup(project: TestProject): Promise<void> {
  const supergraph = fileURLToPath(new URL('../../supergraph', import.meta.url));
  if (!existsSync(`${supergraph}/node_modules/.package-lock.json`)) {
    await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: supergraph });
  }
  const configFile = fileURLToPath(new URL('../vite.config.ts', import.meta.url));
  // Not into dist: `npm run demo`, which a test starts, empties that.
  const outDir = await mkdtemp(join(tmpdir(), 'risk-desk-page-'));
  const nodeEnv = process.env['NODE_ENV'];
  // vitest says that this is a test; the page that people get is built for production.
  process.env['NODE_ENV'] = 'production';
  await build({ configFile, logLevel: 'error', build: { outDir } });
  process.env['NODE_ENV'] = nodeEnv;
  project.provide('pageDirectory', outDir);
}
