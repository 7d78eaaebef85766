import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';

export const MAX_FILE_BYTES = 16 * 1024 * 1024;

const PART_BYTES = 64 * 1024;

/** Opens a pipe without a writer at once, to refuse it; otherwise opening it would never end. */
const TO_READ = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * The text of a regular file, read at once.
 *
 * @throws {Error} when it cannot be read, is too large, or is something else: reading a pipe or a device may have no end
 */
export function readTextNow(path: string): string {
  const file = openSync(path, TO_READ);
  try {
    demandFile(fstatSync(file));
    const parts: Buffer[] = [];
    // A file's size is not a bound: it may grow, and some files of Linux report none.
    for (let total = 0; total <= MAX_FILE_BYTES;) {
      const part = Buffer.allocUnsafe(PART_BYTES);
      const bytes = readSync(file, part);
      if (bytes === 0) return Buffer.concat(parts).toString('utf8');
      parts.push(part.subarray(0, bytes));
      total += bytes;
    }
    throw unfit('FILE_TOO_LARGE');
  } finally {
    closeSync(file);
  }
}

/** As {@link readTextNow}; `undefined` where it cannot be read. */
export function readTextIfThere(path: string): string | undefined {
  try {
    return readTextNow(path);
  } catch {
    return undefined;
  }
}

/** What keeps a file from being read, by its code, such as `ENOENT`; `undefined` where nothing does, or no longer. */
export function readFaultOf(path: string): string | undefined {
  try {
    readTextNow(path);
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : undefined;
  }
}

/** As {@link readTextNow}, asynchronously. */
export async function readText(path: string): Promise<string> {
  await using file = await open(path, TO_READ);
  demandFile(await file.stat());
  const end = MAX_FILE_BYTES + PART_BYTES - 1;
  const stream = file.createReadStream({ end, autoClose: false });
  const bytes = await buffer(stream);
  if (bytes.length > MAX_FILE_BYTES) throw unfit('FILE_TOO_LARGE');
  return bytes.toString('utf8');
}

function demandFile(stats: Stats): void {
  if (!stats.isFile()) throw unfit('NO_REGULAR_FILE');
  if (stats.size > MAX_FILE_BYTES) throw unfit('FILE_TOO_LARGE');
}

/** Named by its code, as system errors are. */
function unfit(code: string): Error {
  return Object.assign(new Error(code), { code });
}
