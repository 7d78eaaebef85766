import { execFile } from 'node:child_process';
import { cp, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { temporaryFolder } from '../support/temporary.ts';

const run = promisify(execFile);
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** Paths of the tarballs, by what is in them. */
export interface Tarballs {
  readonly service: string;
  readonly library: string;
  readonly mocks: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    tarballs: Tarballs;
    /** The service's name to npx in the empty folder: a path that begins otherwise would be taken for a command. */
    npxName: string;
    empty: string;
    /** A copy of examples/mounted, with the library and the mocks installed. */
    mounted: string;
  }
}

/** Packs once for all checks, and installs the tarballs as a stranger does. */
export default async function setUp(project: TestProject): Promise<void> {
  const folder = temporaryFolder();
  const { stdout } = await run('npm', ['run', '--silent', 'pack', '--', folder], { cwd: PROJECT });
  const [service = '', library = '', mocks = ''] = stdout
    .trim()
    .split('\n')
    .map((line) => join(folder, basename(line)));
  const empty = join(folder, 'empty');
  const mounted = join(folder, 'mounted');
  await mkdir(empty);
  await cp(join(PROJECT, 'examples/mounted'), mounted, { recursive: true });
  await run('npm', ['install', '--no-audit', '--no-fund', library, mocks], { cwd: mounted });
  project.provide('tarballs', { service, library, mocks });
  project.provide('npxName', `../${basename(service)}`);
  project.provide('empty', empty);
  project.provide('mounted', mounted);
}
