import type { Writable } from 'node:stream';

/** The most that may wait for a reader that has stopped; further lines of the log are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Never blocks the process, even when its reader stops or is gone. The log and the audit log may share it. */
export class StandardOutput {
  readonly #stream: Writable;
  #lostLines = 0;

  constructor(stream: Writable = process.stdout) {
    this.#stream = stream;
    // Without a listener, a reader that is gone would end the process.
    if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore);
  }

  get lostLines(): number {
    return this.#lostLines;
  }

  write(line: string): void {
    if (this.hasRoom) this.#stream.write(line, this.#countFailure);
    else this.#lostLines += 1;
  }

  get hasRoom(): boolean {
    return this.#stream.writableLength < MAX_WAITING_BYTES;
  }

  /** Resolves when the operating system has accepted the text; rejects when it cannot be written. */
  append(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stream.write(text, (error) => {
        if (error instanceof Error) reject(error);
        else resolve();
      });
    });
  }

  readonly #countFailure = (error: Error | null | undefined): void => {
    if (error instanceof Error) this.#lostLines += 1;
  };
}

function ignore(): void {}
