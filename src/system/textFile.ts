import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';

/** The largest file that is read whole. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;

const PART_BYTES = 64 * 1024;

/** A pipe without a writer is opened at once, and then refused; otherwise it would be waited for without end. */
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
    const text = new GrowingText();
    for (;;) {
      const part = Buffer.allocUnsafe(PART_BYTES);
      const bytes = readSync(file, part);
      if (bytes === 0) return text.whole;
      text.add(part.subarray(0, bytes));
    }
  } finally {
    closeSync(file);
  }
}

/** The same, while other work goes on. */
export async function readText(path: string): Promise<string> {
  await using file = await open(path, TO_READ);
  demandFile(await file.stat());
  const text = new GrowingText();
  for (;;) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(PART_BYTES));
    if (bytesRead === 0) return text.whole;
    text.add(buffer.subarray(0, bytesRead));
  }
}

function demandFile(stats: Stats): void {
  if (!stats.isFile()) throw new Unfit('NO_REGULAR_FILE');
  if (stats.size > MAX_FILE_BYTES) throw new Unfit('FILE_TOO_LARGE');
}

/** What was read so far. A file's size is no bound: it may grow, and some files of Linux's say that they have none. */
class GrowingText {
  readonly #parts: Buffer[] = [];
  #bytes = 0;

  /** @throws {Error} when it grows too large */
  add(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > MAX_FILE_BYTES) throw new Unfit('FILE_TOO_LARGE');
    this.#parts.push(part);
  }

  get whole(): string {
    return Buffer.concat(this.#parts).toString('utf8');
  }
}

/** What is told of it is its code, as of the system's own errors. */
class Unfit extends Error {
  override readonly name = 'Unfit';
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}
