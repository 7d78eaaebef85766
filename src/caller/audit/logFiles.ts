import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { memberAt } from '../../wire/json.ts';

/** The first bytes of gzip (RFC 1952 §2.3.1). */
const GZIP_MAGIC = Buffer.of(0x1f, 0x8b);

/** The audit log and its rotated files (`audit.jsonl.1`, `audit.jsonl-20261101.gz`), the oldest first. */
export async function rotatedFiles(path: string): Promise<readonly string[]> {
  const directory = dirname(path);
  const name = basename(path);
  const names = (await readdir(directory)).filter(
    (one) => one.startsWith(name) && /^(?:$|[.-])/.test(one.slice(name.length)),
  );
  const paths = names.map((one) => join(directory, one));
  const files = await Promise.all(
    paths.map(async (file) => ({ file, writtenMs: (await stat(file)).mtimeMs })),
  );
  return files.toSorted((a, b) => a.writtenMs - b.writtenMs).map(({ file }) => file);
}

/** The text of a file, or of standard input for `-`, unzipped where its first bytes are those of gzip. */
export async function* textOf(file: string): AsyncGenerator<string> {
  const input: Readable = file === '-' ? process.stdin : createReadStream(file);
  await once(input, 'readable');
  const first: unknown = input.read();
  if (Buffer.isBuffer(first)) input.unshift(first);
  const isGzipped = Buffer.isBuffer(first) && first.subarray(0, 2).equals(GZIP_MAGIC);
  // An error ends the reading.
  const plain = isGzipped ? pipeline(input, createGunzip(), () => undefined) : input;
  plain.setEncoding('utf8');
  yield* plain;
}

/** No line of the audit log is longer; a longer one is returned in parts, each as a line. */
const MAX_LINE_CHARACTERS = 1024 * 1024;

/**
 * The lines of a text that arrives in pieces. Only `\n` ends a line, with or without a `\r` before it: JSON may have
 * U+2028 and U+2029, at which node:readline splits a line.
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

/** A missing text is empty. */
export type AuditedLine = Exclude<ReturnType<typeof readAuditedLine>, 'torn' | undefined>;

/** Parses a line; `undefined` for lines of the log, which may share standard output. Pure. */
export function readAuditedLine(line: string) {
  if (!line.includes('"audit":')) return undefined;
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    return 'torn' as const;
  }
  const textAt = (...path: string[]): string => {
    const member = memberAt(entry, path);
    return typeof member === 'string' ? member : '';
  };
  const numbers = memberAt(entry, ['caller', 'numbers']);
  const attempts = memberAt(entry, ['attempts']);
  return {
    audit: textAt('audit'),
    /** `NaN` where the line has no time. */
    atMs: Date.parse(textAt('time')),
    event: textAt('event'),
    number: textAt('number'),
    issuer: textAt('caller', 'issuer'),
    subject: textAt('caller', 'subject'),
    client: textAt('caller', 'client'),
    /** Hashes of the numbers in the caller's names. */
    numbers: Array.isArray(numbers) ? numbers.map(String) : [],
    purpose: textAt('purpose'),
    operator: textAt('operator'),
    operation: textAt('operation'),
    correlator: textAt('correlator'),
    outcome: textAt('outcome'),
    attempts: typeof attempts === 'number' ? attempts : 0,
  };
}
