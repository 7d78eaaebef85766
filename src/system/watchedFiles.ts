import type { Clock } from './clock.ts';
import type { FileTexts, FileWatch } from './fromFiles.ts';
import { readText, readTextNow } from './textFile.ts';

/** How often files are read again. By reading, not by events: those are lost on network file systems. */
const EVERY_MS = 5000;

/** A change counts once two readings so far apart agree: a file may be half written, or its pair be missing. */
const SETTLED_AFTER_MS = 500;

/**
 * Files that may change while the process runs, such as those of a Kubernetes secret, which change by a link that leads
 * elsewhere. They are opened anew by their names each time.
 */
export class WatchedFiles implements FileWatch {
  readonly #paths: readonly string[];
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #onChange: () => void;
  readonly #closing = new AbortController();
  #texts: FileTexts;

  /**
   * Reads the files at once, and then every five seconds until it is closed.
   *
   * @param onChange called when one of them has changed
   * @param readBefore what some of them held when they were last read
   */
  constructor(
    paths: readonly string[],
    clock: Pick<Clock, 'sleep'>,
    onChange: () => void,
    readBefore: FileTexts = new Map(),
  ) {
    this.#paths = paths;
    this.#clock = clock;
    this.#onChange = onChange;
    this.#texts = new Map(paths.map((path) => [path, readBefore.get(path) ?? readNow(path)]));
    if (paths.length > 0) void this.#watch();
  }

  get texts(): FileTexts {
    return this.#texts;
  }

  close(): void {
    this.#closing.abort();
  }

  async #watch(): Promise<void> {
    const { signal } = this.#closing;
    for (;;) {
      try {
        await this.#clock.sleep(EVERY_MS, signal);
        const texts = await this.#settled();
        if (signal.aborted) return;
        if (areAlike(texts, this.#texts)) continue;
        this.#texts = texts;
      } catch {
        // Closed.
        return;
      }
      this.#onChange();
    }
  }

  /** The texts once they rest; a file that is written all the time is read again all the time. */
  async #settled(): Promise<FileTexts> {
    let latest = await this.#read();
    while (!areAlike(latest, this.#texts)) {
      await this.#clock.sleep(SETTLED_AFTER_MS, this.#closing.signal);
      const again = await this.#read();
      if (areAlike(again, latest)) return again;
      latest = again;
    }
    return latest;
  }

  async #read(): Promise<FileTexts> {
    const entries = this.#paths.map(async (path) => {
      const text = await readText(path).catch(() => undefined);
      return [path, text] as const;
    });
    return new Map(await Promise.all(entries));
  }
}

function readNow(path: string): string | undefined {
  try {
    return readTextNow(path);
  } catch {
    return undefined;
  }
}

function areAlike(one: FileTexts, other: FileTexts): boolean {
  return [...one].every(([path, text]) => other.get(path) === text);
}
