import { open, type FileHandle } from 'node:fs/promises';
import type { Clock } from '../../clock.ts';

/** So long is written to a file that was renamed under our hands; opening it anew for each write costs more. */
const OPENED_ANEW_AFTER_MS = 1000;

/** A file that text is added to, and that may be rotated at any time. For its owner's eyes alone. */
export class AuditFile {
  readonly #path: string;
  readonly #clock: Clock;
  #opened: { readonly file: Promise<FileHandle>; readonly atMs: number } | undefined;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** Rejects when not all of it is written; the next time, the file is opened anew. */
  async append(text: string): Promise<void> {
    const file = this.#file();
    try {
      await (await file).appendFile(text);
    } catch (error) {
      this.#leave(file);
      throw error;
    }
  }

  #file(): Promise<FileHandle> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#opened !== undefined) {
      if (nowMs < this.#opened.atMs + OPENED_ANEW_AFTER_MS) return this.#opened.file;
      this.#leave(this.#opened.file);
    }
    this.#opened = { file: open(this.#path, 'a', 0o600), atMs: nowMs };
    return this.#opened.file;
  }

  /** Closes it once nothing is written to it any more; nobody waits for that, for a disk may be stuck. */
  #leave(file: Promise<FileHandle>): void {
    if (this.#opened?.file !== file) return;
    this.#opened = undefined;
    file.then((opened) => opened.close()).catch(() => undefined);
  }
}
