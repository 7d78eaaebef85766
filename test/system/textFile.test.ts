import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_FILE_BYTES, readText, readTextNow } from '../../src/system/textFile.ts';
import { TemporaryFiles } from '../support/temporary.ts';

/** A regular file of Linux that claims to be empty, and has no end. */
const ENDLESS = '/proc/self/pagemap';

const WAYS = [
  ['synchronously', async (path: string) => Promise.resolve(readTextNow(path))],
  ['asynchronously', readText],
] as const;

/** What may be in the place of a file. */
const STRANGERS: Readonly<
  Record<string, readonly [make: (path: string) => unknown, code: string]>
> = {
  'a pipe that nothing writes to': [(path) => execFileSync('mkfifo', [path]), 'NO_REGULAR_FILE'],
  'an endless device': [(path) => symlinkSync('/dev/zero', path), 'NO_REGULAR_FILE'],
  'a folder': [mkdirSync, 'NO_REGULAR_FILE'],
  'a link to itself': [(path) => symlinkSync(path, path), 'ELOOP'],
  nothing: [() => undefined, 'ENOENT'],
  'too large': [(path) => writeFileSync(path, Buffer.alloc(MAX_FILE_BYTES + 1)), 'FILE_TOO_LARGE'],
};

describe.each(WAYS)('a file that is read %s', (_, read) => {
  it.each(Object.entries(STRANGERS))('is refused where it is %s', async (_what, [make, code]) => {
    const files = new TemporaryFiles();
    const path = join(files.folder, 'stranger');
    make(path);
    await expect(async () => read(path)).rejects.toMatchObject({ code });
  });

  it.skipIf(!existsSync(ENDLESS))('is refused where it is larger than it claims', async () => {
    await expect(async () => read(ENDLESS)).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' });
  });

  it('is read whole from several parts', async () => {
    const files = new TemporaryFiles();
    const text = '€'.repeat(100_000);
    expect(await read(files.write('file', text))).toBe(text);
  });
});
