import type { ClockElsewhere } from '../system/clock.ts';

/** What a script is given beside its keys. */
export type ScriptValues = readonly (string | number)[];

/** A Redis, however it is run. Commands are never queued for it, and each ends in time. */
export interface Redis extends Omit<PlainRedis, 'run'> {
  /**
   * As {@link PlainRedis} does.
   *
   * @param values may be computed from the clock of the server that holds the keys, by its last reply: the script does not run
   * where that clock was set back since, and they are computed again
   */
  run(
    script: string,
    keys: readonly string[],
    values?: ScriptValues | ((server: ClockElsewhere) => ScriptValues),
    timeoutMs?: number,
  ): Promise<unknown>;
}

/** One that knows of no time. */
export interface PlainRedis {
  /** Starts to connect, and goes on for as long as it takes; resolves when connected, or after a while. */
  open(): Promise<void>;

  /**
   * Runs a script on the given keys, of which there is at least one; several lie in one slot, by a hash tag.
   *
   * @param timeoutMs how long to wait for its reply; a second where absent
   * @throws {SharedStateLost} when it may or may not have run
   * @throws {OutOfMemory} when Redis has no room for what the script writes
   */
  run(
    script: string,
    keys: readonly string[],
    values?: ScriptValues,
    timeoutMs?: number,
  ): Promise<unknown>;

  /** Names the server that holds a key at this moment: while it is away, so is all else that it holds. */
  serverOf(key: string): string;

  /** Has a listener called whenever a server that was lost is back: it may have forgotten what it held. */
  onBack(listener: () => void): void;

  close(): void;
}

/** The texts of a script's reply. */
export function texts(reply: unknown): string[] {
  return Array.isArray(reply) ? reply.map(String) : [];
}
