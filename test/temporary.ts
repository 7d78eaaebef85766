import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TextSource } from '../src/http/wireSettings.ts';

/**
 * Has this process, and all that it starts, put what is for a while into one folder, which goes with the process however
 * its tests end. For vitest, its `globalSetup`; nothing else removes what a test writes.
 */
export default function ownTemporaryFolder(): void {
  const folder = temporaryFolder();
  process.env['TMPDIR'] = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'sim-swap-test-'));
}

/** Files in a folder of their own. */
export class TemporaryFiles {
  readonly folder = temporaryFolder();
  #count = 0;

  /** Writes a file, or puts another in its place, whole or not at all. */
  write(name: string, text: string): string {
    this.#count += 1;
    const made = join(this.folder, `.made-${this.#count}`);
    writeFileSync(made, text);
    const path = join(this.folder, name);
    renameSync(made, path);
    return path;
  }

  /** The same, as the settings name it. */
  source(name: string, text: string): TextSource {
    return { kind: 'file', path: this.write(name, text) };
  }
}
