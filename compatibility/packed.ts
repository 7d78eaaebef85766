import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { finding, versionsOf, type Finding, type Judge } from './judge.ts';

const ESM_ONLY = ['--profile', 'esm-only', '--no-emoji'];

const TOOLS = {
  publint: { file: 'publint/src/cli.js', words: ['--strict'] },
  '@arethetypeswrong/cli': { file: '@arethetypeswrong/cli/dist/index.js', words: ESM_ONLY },
} as const;

/** What tools for packages make of the tarballs, as others would install them. */
export const PACKED_JUDGES: readonly Judge[] = Object.entries(TOOLS).map(
  ([name, { file, words }]) => ({
    name: `the tarballs, by ${name}`,
    version: versionsOf([name]),
    form: 'long',
    async judge() {
      await using deferred = new AsyncDisposableStack();
      const folder = await mkdtemp(join(tmpdir(), 'packed-'));
      deferred.defer(() => rm(folder, { recursive: true }));
      const packing = await run([pathOf('../scripts/pack.ts'), folder]);
      if (packing !== '') return [finding('packs', false, packing)];
      const tarballs = (await readdir(folder)).filter((one) => one.endsWith('.tgz'));
      const findings: Finding[] = [];
      for (const tarball of tarballs.toSorted()) {
        const tool = pathOf(`node_modules/${file}`);
        const said = await run([tool, ...words, join(folder, tarball)]);
        findings.push(finding(tarball.replace(/-\d.*/, ''), said === '', said));
      }
      return findings;
    },
  }),
);

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

/** What a program says when it fails; empty where it ends with 0. */
function run(words: readonly string[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  execFile(process.execPath, words, { cwd: pathOf('..') }, (error, out, problems) =>
    resolve(error === null ? '' : `${problems}${out}` || error.message),
  );
  return promise;
}
