import { slept, type Clock } from './clock.ts';
import { readText } from './textFile.ts';

/** The text of each file by its path; `undefined` where it cannot be read. */
export type FileTexts = ReadonlyMap<string, string | undefined>;

/** How often files are read again. Events would be lost on network file systems. */
const EVERY_MS = 5000;

/**
 * A change counts once two readings this far apart agree: a file may be half written, or a key may be there without its
 * certificate.
 */
const SETTLED_AFTER_MS = 500;

/**
 * Watches files that may change while the process runs, such as those of a Kubernetes secret, where a link changes its
 * target. They are read every five seconds, each time opened by name.
 *
 * @param first what they were when they were read before
 * @param onChange gets the latest texts that two readings agreed on; they are not read again before it has ended
 * @returns a function that stops it
 */
export function watchFiles(
  first: FileTexts,
  onChange: (texts: FileTexts) => unknown,
  clock: Pick<Clock, 'sleep'>,
): () => void {
  const closing = new AbortController();
  const paths = [...first.keys()];
  let texts = first;

  async function watch(): Promise<void> {
    for (let latest = texts; ;) {
      const pauseMs = latest === texts ? EVERY_MS : SETTLED_AFTER_MS;
      if (!(await slept(clock, pauseMs, closing.signal))) return;
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
      await onChange(texts);
    }
  }

  if (paths.length > 0) void watch();
  return () => closing.abort();
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
