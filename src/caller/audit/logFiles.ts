import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

/** RFC 1952 §2.3.1. */
const GZIP_MAGIC = [0x1f, 0x8b] as const;

/**
 * The audit log and what it was rotated to (`audit.jsonl.1`, `audit.jsonl-20261101.gz`), the oldest first.
 * Rejects when its directory cannot be read.
 */
export async function rotatedFiles(path: string): Promise<readonly string[]> {
  const directory = dirname(path);
  const name = basename(path);
  const names = (await readdir(directory)).filter(
    (one) => one === name || (one.startsWith(name) && /^[.-]/.test(one.slice(name.length))),
  );
  const files = await Promise.all(
    names.map(async (one) => {
      const file = join(directory, one);
      return { file, writtenMs: (await stat(file)).mtimeMs };
    }),
  );
  return files.toSorted((a, b) => a.writtenMs - b.writtenMs).map(({ file }) => file);
}

/** The text of a file, or of standard input for `-`, unpacked where it is gzipped. It rejects where it cannot be read. */
export async function* textOf(file: string): AsyncGenerator<string> {
  const input: Readable = file === '-' ? process.stdin : createReadStream(file);
  const plain = await unpacked(input);
  plain.setEncoding('utf8');
  yield* plain;
}

/** By its first bytes, whatever its name is. */
async function unpacked(input: Readable): Promise<Readable> {
  const first = await firstBytes(input);
  const isGzipped = GZIP_MAGIC.every((byte, index) => first?.[index] === byte);
  if (first !== undefined) input.unshift(first);
  if (!isGzipped) return input;
  const plain = new PassThrough();
  // What fails ends `plain` with the error, where its reader finds it.
  pipeline(input, createGunzip(), plain).catch(() => undefined);
  return plain;
}

async function firstBytes(input: Readable): Promise<Buffer | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>();
  const look = (): void => {
    const bytes: unknown = input.read();
    if (bytes instanceof Buffer) resolve(bytes);
  };
  const end = (): void => resolve(undefined);
  input.on('readable', look).once('end', end).once('error', reject);
  try {
    return await promise;
  } finally {
    input.off('readable', look).off('end', end).off('error', reject);
  }
}

/** A longer line is not the audit log's: the parts of it that come are passed on as lines of their own. */
const MAX_LINE_CHARACTERS = 1024 * 1024;

/**
 * The lines of a text that comes in pieces. Only `\n` ends one, with or without a `\r` before it: JSON may
 * hold U+2028 and U+2029, at which node:readline breaks a line in two.
 */
export async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield line.replace(/\r$/, '');
    if (rest.length > MAX_LINE_CHARACTERS) {
      yield rest;
      rest = '';
    }
  }
  if (rest !== '') yield rest;
}
