import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pretty, type MadeFile } from './madeFile.ts';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const BUILD = join(PROJECT, 'tsconfig.build.json');
const ENTRIES = {
  client: 'src/library/client',
  subgraph: 'src/library/subgraph',
  mocks: 'mocks/mocks',
  profile: 'src/domain/profile',
};

const run = promisify(execFile);

/** The sources do not compile; the message has the compiler's output. */
export class CompileError extends Error {
  override name = 'CompileError';
}

/**
 * What the package offers to other programs, as its declarations: docs/api/. A test compares, so that a change of the
 * public API appears in its diff.
 *
 * @param flags of the compiler: with `--noCheck` it takes a quarter of the time
 * @throws CompileError.
 */
export async function makePublicApi(
  config = BUILD,
  flags: readonly string[] = [],
): Promise<readonly MadeFile[]> {
  const folder = await mkdtemp(join(tmpdir(), 'public-api-'));
  try {
    await run(
      join(PROJECT, 'node_modules/.bin/tsc'),
      ['-p', config, '--emitDeclarationOnly', '--outDir', folder, ...flags],
      { cwd: PROJECT },
    ).catch((error: { readonly stdout: string }) => {
      throw new CompileError(error.stdout);
    });
    return await Promise.all(
      Object.entries(ENTRIES).map(async ([entry, built]) => {
        const path = join(PROJECT, `docs/api/${entry}.d.ts`);
        return {
          path,
          text: await pretty(await readFile(join(folder, `${built}.d.ts`), 'utf8'), path),
        };
      }),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
