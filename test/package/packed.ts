import { execFile } from 'node:child_process';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { temporaryFolder } from '../temporary.ts';

const run = promisify(execFile);
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

const IS_LINKED = /(?:^|\/)(?:node_modules|\.git)$/;

declare module 'vitest' {
  interface ProvidedContext {
    tarball: string;
    /** Its name to npx in the empty folder: a path that begins otherwise would be taken for a command. */
    npxName: string;
    empty: string;
    /** A copy of examples/mounted, with the tarball installed. */
    mounted: string;
  }
}

/** Packs once for all checks, and installs the tarball as a stranger does. */
export default async function setUp(project: TestProject): Promise<void> {
  const folder = temporaryFolder();
  const packed = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: await copyIn(folder),
  });
  const tarball = join(folder, fileNameIn(packed.stdout));
  const empty = join(folder, 'empty');
  const mounted = join(folder, 'mounted');
  await mkdir(empty);
  await cp(join(PROJECT, 'examples/mounted'), mounted, { recursive: true });
  await run('npm', ['install', '--no-audit', '--no-fund', tarball], { cwd: mounted });
  project.provide('tarball', tarball);
  project.provide('npxName', `../${basename(tarball)}`);
  project.provide('empty', empty);
  project.provide('mounted', mounted);
}

/** Packing trims package.json for a while, by which other programs may start at the same time. */
async function copyIn(folder: string): Promise<string> {
  const copy = join(folder, 'checkout');
  await cp(PROJECT, copy, {
    recursive: true,
    filter: (path) => !IS_LINKED.test(relative(PROJECT, path)),
  });
  await Promise.all(
    ['node_modules', '.git'].map((name) => symlink(join(PROJECT, name), join(copy, name))),
  );
  return copy;
}

/** What npm writes beside it are the lines of the build. */
function fileNameIn(output: string): string {
  const [name] = /[\w.-]+\.tgz/.exec(output) ?? [];
  if (name === undefined) throw new Error(`npm pack named no tarball: ${output}`);
  return name;
}
