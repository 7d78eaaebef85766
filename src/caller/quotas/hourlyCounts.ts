/** How long a window lasts; it starts with the first that is counted in it. */
export const WINDOW_MS = 3_600_000;

export type WindowOwner = 'caller' | 'number';

/** A count of a window that is to be raised by one. */
export interface CountClaim {
  readonly count: string;
  readonly limit: number;
  /** Raises the count only with the first claim that names this member of the window. */
  readonly member?: string;
}

export interface Standing {
  /** The counts, in the order in which they were named. */
  readonly counts: readonly number[];
  /** Until the window ends and all counts in it are 0 again. */
  readonly resetMs: number;
}

export interface Claimed extends Standing {
  /** Which claim is over its limit, by its place; then no count was raised. */
  readonly over: number | undefined;
  /** Takes the claims back; once at most, and only where none is over. Never rejects. */
  readonly giveBack: () => Promise<void> | void;
}

/**
 * Counts in windows of an hour. No method rejects.
 * Claims are made together or not at all, in one step: two that ask at the
 * same moment, in whichever processes, never both get the last one, nor count one member twice.
 */
export interface HourlyCounts {
  /** What a caller or a number is called in it: of bounded length, whatever the text's. */
  nameOf(text: string): string;
  windowOf(whose: WindowOwner, text: string): string;
  /** @param timeLimitMs for a store that is not in this process */
  claim(
    window: string,
    claims: readonly CountClaim[],
    timeLimitMs: number,
  ): Promise<Claimed> | Claimed;
  /** Reads counts without raising any. */
  read(
    window: string,
    counts: readonly string[],
    timeLimitMs: number,
  ): Promise<Standing> | Standing;
}
