import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import type { Reply } from './reply.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.csv': 'text/csv; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** vite names them by what they hold: they never change. They are the program, and hold nothing of a person. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/**
 * The built page, read once. A file is found only by its whole name: there is no path that
 * leads out of the folder.
 *
 * @throws when the page is not built
 */
export function readPage(directory: string): ReadonlyMap<string, Reply> {
  const files = new Map<string, Reply>();
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const file = join(entry.parentPath, entry.name);
    const path = `/${file
      .slice(directory.length)
      .split(sep)
      .filter((part) => part !== '')
      .join('/')}`;
    const body = readFileSync(file);
    const isNamedByContent = path.startsWith('/assets/');
    const headers = {
      'content-type': type,
      etag: `"${hash('sha256', body, 'base64url')}"`,
      ...(isNamedByContent ? { 'cache-control': FOR_EVER } : {}),
    };
    files.set(path === '/index.html' ? '/' : path, { status: 200, headers, body });
  }
  if (!files.has('/')) throw new Error(`There is no page in ${directory}. Build it first.`);
  return files;
}
