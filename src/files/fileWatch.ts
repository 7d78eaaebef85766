/** The text of each file by its path; `undefined` where it cannot be read. */
export type FileTexts = ReadonlyMap<string, string | undefined>;

/** Files that are read again when they change. */
export interface FileWatch {
  /** As they were when they were last read and had settled. */
  readonly texts: FileTexts;
  /** Reads no more. */
  close(): void;
}

/**
 * Reads files at once and whenever they change; handed in, since the core knows no files. A file that was read before
 * has changed where it no longer holds what it held then.
 */
export type WatchFiles = (
  paths: readonly string[],
  onChange: () => void,
  readBefore?: FileTexts,
) => FileWatch;

/** Where no files are to be had: none of them can be read. */
export const noFiles: WatchFiles = () => ({ texts: new Map(), close: () => undefined });
