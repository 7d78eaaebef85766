import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TextSource } from '../../src/http/wireSettings.ts';

/** Files in a folder of their own, removed with the test that made them. */
export class TemporaryFiles implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'sim-swap-files-'));
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

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
