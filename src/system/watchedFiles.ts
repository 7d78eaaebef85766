import type { Clock } from './clock.ts';
import { readText, readTextIfThere } from './textFile.ts';

/** The text of each file by its path; `undefined` where it cannot be read. */
export type FileTexts = ReadonlyMap<string, string | undefined>;

export interface FileWatch {
  /** The latest texts that two readings agreed on. */
  readonly texts: FileTexts;
  close(): void;
}

/** How often files are read again. Events would be lost on network file systems. */
const EVERY_MS = 5000;

/**
 * A change counts once two readings this far apart agree: a file may be half written, a key without its certificate.
 */
const SETTLED_AFTER_MS = 500;

/**
 * Watches files that may change while the process runs, such as those of a Kubernetes secret, where a link changes its
 * target. They are read at once and then every five seconds, each time opened by name.
 */
export function watchFiles(
  paths: readonly string[],
  onChange: () => void,
  clock: Pick<Clock, 'sleep'>,
  readBefore: FileTexts = new Map(),
): FileWatch {
  const closing = new AbortController();
  let texts: FileTexts = new Map(
    paths.map((path) => [path, readBefore.get(path) ?? readTextIfThere(path)]),
  );

  async function watch(): Promise<void> {
    for (let latest = texts; ;) {
      try {
        await clock.sleep(latest === texts ? EVERY_MS : SETTLED_AFTER_MS, closing.signal);
      } catch {
        // Closed.
        return;
      }
      const again = await readAll(paths);
      if (closing.signal.aborted) return;
      const hasSettled = areAlike(again, latest);
      if (areAlike(again, texts)) {
        latest = texts;
        continue;
      }
      latest = again;
      if (!hasSettled) continue;
      texts = again;
      onChange();
    }
  }

  if (paths.length > 0) void watch();
  return {
    get texts() {
      return texts;
    },
    close: () => closing.abort(),
  };
}

async function readAll(paths: readonly string[]): Promise<FileTexts> {
  const entries = paths.map(async (path) => {
    const text = await readText(path).catch(() => undefined);
    return [path, text] as const;
  });
  return new Map(await Promise.all(entries));
}

function areAlike(one: FileTexts, other: FileTexts): boolean {
  return [...one].every(([path, text]) => other.get(path) === text);
}
