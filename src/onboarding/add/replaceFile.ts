import { chmod, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorName } from '../../errors.ts';
import { readText } from '../../textFile.ts';

/** What became of writing a file anew. */
export type Replaced =
  | { readonly kind: 'written' }
  /** It is no longer what it was when it was read. */
  | { readonly kind: 'changed meanwhile' }
  /** Another process writes it, or broke off while it did: its file is still there. */
  | { readonly kind: 'being written'; readonly by: string }
  | { readonly kind: 'failed'; readonly code: string };

/** Of a file that is made: it points to secrets, and is nobody else's. */
const NEW_FILE_MODE = 0o600;

/**
 * Puts a text in the place of a file, at once: whoever reads it finds the old one or the new one. Mode and symbolic
 * links stay.
 *
 * @param before what the file held when it was read; `undefined` where there was none
 */
export async function replaceFile(
  path: string,
  before: string | undefined,
  text: string,
): Promise<Replaced> {
  let target: string;
  try {
    target = before === undefined ? path : await realpath(path);
  } catch (error) {
    return { kind: 'failed', code: errorName(error) };
  }
  // One name for all, so that it is a lock as well.
  const beside = join(dirname(target), `.${basename(target)}.new`);
  try {
    const file = await open(beside, 'wx', NEW_FILE_MODE);
    try {
      if ((await textOf(target)) !== before)
        return await given(beside, { kind: 'changed meanwhile' });
      if (before !== undefined) await chmod(beside, (await stat(target)).mode & 0o7777);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, target);
    return { kind: 'written' };
  } catch (error) {
    const code = errorName(error);
    if (code === 'EEXIST') return { kind: 'being written', by: beside };
    return given(beside, { kind: 'failed', code });
  }
}

/** The text of a file, `undefined` where there is none. */
export async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readText(path);
  } catch (error) {
    if (errorName(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function given(beside: string, replaced: Replaced): Promise<Replaced> {
  await rm(beside, { force: true });
  return replaced;
}
