/** The most that may wait for a reader that has stopped; further lines of the log are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * Never blocks the process, even when its reader stops or is gone. The log and the audit log may share it. The lines of
 * one turn of the event loop are one write: hundreds of requests may end in it.
 */
export class StandardOutput {
  readonly #stream = process.stdout;
  #text = '';
  #lines = 0;
  #lostLines = 0;

  constructor() {
    // Without a listener, a reader that is gone would end the process.
    if (!this.#stream.listeners('error').includes(ignore)) this.#stream.on('error', ignore);
  }

  get lostLines(): number {
    return this.#lostLines;
  }

  write(line: string): void {
    if (!this.hasRoom) {
      this.#lostLines += 1;
      return;
    }
    if (this.#lines === 0) {
      // A process that exits does not reach the end of the turn.
      process.once('exit', this.#flush);
      setImmediate(this.#flush);
    }
    this.#text += line;
    this.#lines += 1;
  }

  readonly #flush = (): void => {
    if (this.#lines === 0) return;
    const lines = this.#lines;
    this.#stream.write(this.#text, (error) => {
      if (error instanceof Error) this.#lostLines += lines;
    });
    this.#text = '';
    this.#lines = 0;
    process.off('exit', this.#flush);
  };

  get hasRoom(): boolean {
    return this.#stream.writableLength + this.#text.length < MAX_WAITING_BYTES;
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
}

function ignore(): void {}
