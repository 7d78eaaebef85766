import { channel } from 'node:diagnostics_channel';
import type { Clock } from './clock.ts';
import { watchFiles, type FileTexts } from './watchedFiles.ts';

/** A value from files with secrets, keys or documents, which may change while the process runs. */
export interface FromFiles<T> {
  readonly texts: FileTexts;
  /** The value that the files have now, checked as at the start. */
  readonly read: (texts: FileTexts) => Reread<T> | Promise<Reread<T>>;
}

/** A value, or why the files cannot be used: for people, without their contents. */
export type Reread<T> =
  { readonly kind: 'read'; readonly value: T } | { readonly kind: 'flawed'; readonly flaw: string };

/** The type of the log is repeated here, since `log/` imports from `system/`. */
interface FollowParts {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: {
    info(message: string, details: { readonly times: number }): void;
    error(message: string, details: { readonly flaw: string }): void;
  };
}

/**
 * Applies the files whenever they have changed. Where they cannot be used, the last value stays, and the log says so.
 * @returns a function that stops it
 */
export function follow<T>(
  from: FromFiles<T> | undefined,
  { clock, log }: FollowParts,
  putInForce: (value: T) => void,
): () => void {
  if (from === undefined) return () => undefined;
  let times = 0;
  let isStopped = false;
  const reread = async (texts: FileTexts): Promise<void> => {
    const now = await from.read(texts);
    if (isStopped) return;
    channel('sim-swap:files').publish({ source: from, isUsable: now.kind === 'read' });
    switch (now.kind) {
      case 'flawed':
        log.error('Files have changed and cannot be used: the old contents stay in use.', {
          flaw: now.flaw,
        });
        return;
      case 'read':
        putInForce(now.value);
        times += 1;
        // Each with its count: a second change within a minute must not count as a repeat of the first line.
        log.info('Files have changed and were read again: the new contents are used.', { times });
    }
  };
  const unwatch = watchFiles(from.texts, reread, clock);
  return () => {
    isStopped = true;
    unwatch();
  };
}

/** Work that pauses after each of its steps. */
export type Steps<T> = Generator<undefined, T>;

const STEPS_MS = 10;

/** Some of the steps in each turn of the event loop, so that requests are served in between. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const untilMs = performance.now() + STEPS_MS;
    do {
      const step = steps.next();
      if (step.done === true) return step.value;
    } while (performance.now() < untilMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** A result that is computed again only when its input has changed. */
export function derived<Source, Made>(
  source: () => Source,
  make: (source: Source) => Made,
): () => Made {
  let from = source();
  let made = make(from);
  return () => {
    const now = source();
    if (now !== from) {
      from = now;
      made = make(now);
    }
    return made;
  };
}
