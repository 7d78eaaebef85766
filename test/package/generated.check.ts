import { appendFile, cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Program } from '../program.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const GENERATED = 'src/graphql/generated/resolvers.ts';
const NEEDED = ['package.json', 'codegen.ts', 'tsconfig.json', 'schema', 'src/graphql/generated'];

let copy: string;

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'generated-'));
  for (const path of NEEDED) await cp(join(PROJECT, path), join(copy, path), { recursive: true });
  await symlink(join(PROJECT, 'node_modules'), join(copy, 'node_modules'));
});
afterAll(() => rm(copy, { recursive: true, force: true }));

/** The exit code of `npm run check:generated` on a copy of the project. */
async function check(): Promise<number | null> {
  const words = ['run', '--silent', 'check:generated'];
  return (await Program.run('npm', words, {}, { folder: copy })).code;
}

describe('npm run check:generated', () => {
  it('takes the resolver types as they are', async () => {
    expect(await check()).toBe(0);
  });

  it('fails when the schema went on without them', async () => {
    const sdl = join(copy, 'schema/bff.graphql');
    const before = await readFile(sdl, 'utf8');
    await appendFile(sdl, '\nextend type Query { another: Int }\n');
    expect(await check()).toBe(1);
    await writeFile(sdl, before);
  });

  it('fails when they were edited by hand', async () => {
    const file = join(copy, GENERATED);
    await writeFile(file, (await readFile(file, 'utf8')).replace('maxAgeHours', 'maxAge'));
    expect(await check()).toBe(1);
  });
});
