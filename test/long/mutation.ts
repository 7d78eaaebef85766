import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { longRun, report, someOf, wrongIf, type Row } from './longRun.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { PARTS } from './mutants.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

export const mutation = longRun({
  about: 'mistakes in the code, one at a time, each of which a test must find',
  options: {
    only: someOf(
      'the files',
      PARTS.map(({ file }) => file),
    ),
  },
  async *run({ only }) {
    const copy = copyOfProject();
    const rows: Row[] = [];
    for (const { file, tests, mutants } of PARTS.filter((one) => only.includes(one.file))) {
      const path = join(copy, file);
      const text = readFileSync(path, 'utf8');
      if ((await verdictOf(copy, tests)) === 'killed') {
        throw new Error(`${tests.join(' ')} fail without a mutant.`);
      }
      for (const [old, mutated] of mutants) {
        const found = text.split(old).length - 1;
        writeFileSync(
          path,
          text.replace(old, () => mutated),
        );
        const verdict =
          found === 1 ? await verdictOf(copy, tests) : `NOT MADE, its text is there ${found} times`;
        yield wrongIf(verdict !== 'killed');
        rows.push([`${file}: ${old.replaceAll(/\s+/g, ' ')}`, verdict]);
        process.stdout.write(`${verdict.padEnd(9)} ${rows.at(-1)?.[0]}\n`);
      }
      writeFileSync(path, text);
    }
    const killed = rows.filter(([, verdict]) => verdict === 'killed').length;
    report('mutants', [
      ['made', rows.length],
      ['killed', killed],
      ['survived, or not made', rows.length - killed],
    ]);
  },
});

/** The files that git tracks, with the installed packages: mutants are written only here. */
function copyOfProject(): string {
  const copy = temporaryFolder();
  const files = execFileSync('git', ['ls-files'], { cwd: PROJECT, encoding: 'utf8' });
  for (const file of files.trim().split('\n')) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(PROJECT, file), join(copy, file));
  }
  symlinkSync(join(PROJECT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

function verdictOf(folder: string, tests: readonly string[]): Promise<'killed' | 'SURVIVED'> {
  const words = ['node_modules/vitest/vitest.mjs', 'run', '--bail=1', ...tests];
  return new Promise((resolve) => {
    execFile(process.execPath, words, { cwd: folder, timeout: 120_000 }, (error) => {
      resolve(error === null ? 'SURVIVED' : 'killed');
    });
  });
}
