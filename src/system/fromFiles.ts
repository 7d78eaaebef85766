import type { Clock } from './clock.ts';
import { watchFiles, type FileTexts } from './watchedFiles.ts';

/** What the settings took from files that hold secrets, keys or documents: these may change while the process runs. */
export interface FromFiles<T> {
  readonly texts: FileTexts;
  /** What the files come to by now, judged as at the start. */
  readonly read: (texts: FileTexts) => Reread<T>;
}

/** A value, or in what way the files cannot be used: words for people, without their contents. */
export type Reread<T> =
  { readonly kind: 'read'; readonly value: T } | { readonly kind: 'flawed'; readonly flaw: string };

/** The type of the log is written out, since `log/` imports from this room. */
interface FollowParts {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: {
    info(message: string): void;
    error(message: string, details: { readonly flaw: string }): void;
  };
}

/**
 * Puts in force what the files hold whenever they have changed. Files that cannot be used leave what was read last in
 * force, and the log says so.
 *
 * @returns how to end that
 */
export function follow<T>(
  from: FromFiles<T> | undefined,
  { clock, log }: FollowParts,
  putInForce: (value: T) => void,
): () => void {
  if (from === undefined) return () => undefined;
  const watch = watchFiles(
    [...from.texts.keys()],
    () => {
      const reread = from.read(watch.texts);
      switch (reread.kind) {
        case 'flawed':
          log.error('Files have changed and cannot be used: what was read before stays in force.', {
            flaw: reread.flaw,
          });
          return;
        case 'read':
          putInForce(reread.value);
          log.info('Files have changed and were read again: what they hold is in force.');
      }
    },
    clock,
    from.texts,
  );
  return () => watch.close();
}

/** What is made of a value, and made again only when the value is another one. */
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
