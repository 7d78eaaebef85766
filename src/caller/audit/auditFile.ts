import { open, type FileHandle } from 'node:fs/promises';
import type { Clock } from '../../system/clock.ts';

/** A file that was renamed is still written to for so long; opening it for each write costs more. */
const REOPEN_AFTER_MS = 1000;

/** A file that text is added to, and that may be rotated at any time. Only its owner may read it. */
export class AuditFile {
  readonly #path: string;
  readonly #clock: Clock;
  #opened: { readonly file: FileHandle; readonly atMs: number } | undefined;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /**
   * Rejects when not all of it is written; the next time, the file is opened anew. One call at a time, and
   * one step at a time within it: a disk that hangs keeps one thread, whatever hangs.
   */
  async append(text: string): Promise<void> {
    const file = await this.#file();
    try {
      await file.appendFile(text);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async #file(): Promise<FileHandle> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#opened !== undefined && nowMs < this.#opened.atMs + REOPEN_AFTER_MS) {
      return this.#opened.file;
    }
    await this.close();
    const file = await open(this.#path, 'a', 0o600);
    this.#opened = { file, atMs: nowMs };
    return file;
  }

  /** The next time, it is opened anew. */
  async close(): Promise<void> {
    const file = this.#opened?.file;
    this.#opened = undefined;
    await file?.close().catch(() => undefined);
  }
}
