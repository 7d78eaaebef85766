import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TextSource } from '../../src/wire/wireSettings.ts';

/**
 * Makes one folder the TMPDIR of this process and all that it starts, and removes it when the process ends. The
 * `globalSetup` of vitest; nothing else removes what a test writes.
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

  /** Writes or replaces a file, whole or not at all. */
  write(name: string, text: string): string {
    this.#count += 1;
    const made = join(this.folder, `.made-${this.#count}`);
    writeFileSync(made, text);
    const path = join(this.folder, name);
    renameSync(made, path);
    return path;
  }

  /** The same, as settings name a file. */
  source(name: string, text: string): TextSource {
    return { kind: 'file', path: this.write(name, text) };
  }
}
