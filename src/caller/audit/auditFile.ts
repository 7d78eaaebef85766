import { open, type FileHandle } from 'node:fs/promises';
import type { Clock } from '../../clock.ts';

/** So long is written to a file that was renamed under our hands; opening it anew for each write costs more. */
const OPENED_ANEW_AFTER_MS = 1000;

/** A file that text is added to, and that may be rotated at any time. For its owner's eyes alone. */
export class AuditFile {
  readonly #path: string;
  readonly #clock: Clock;
  #opened: { readonly file: FileHandle; readonly atMs: number } | undefined;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** Rejects when not all of it is written. Not to be called again before it is over. */
  async append(text: string): Promise<void> {
    const file = await this.#file();
    try {
      await file.appendFile(text);
    } catch (error) {
      await this.#close();
      throw error;
    }
  }

  async #file(): Promise<FileHandle> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#opened !== undefined && nowMs < this.#opened.atMs + OPENED_ANEW_AFTER_MS) {
      return this.#opened.file;
    }
    await this.#close();
    const file = await open(this.#path, 'a', 0o600);
    this.#opened = { file, atMs: nowMs };
    return file;
  }

  async #close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.file.close();
  }
}
