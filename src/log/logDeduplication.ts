import { slept, type Clock } from '../system/clock.ts';
import { logOf, type Log, type LogDetails } from './log.ts';

const EVERY_MS = 60_000;

/** With more kinds than this, lines are grouped by their message only, and then all together. */
const MAX_KINDS = 200;
const MAX_KEY_CHARACTERS = 500;

/** Details that differ within a kind. The summary has those of the latest line. */
const CHANGING: ReadonlySet<string> = new Set(['correlator', 'sentAs', 'trace_id']);

type Level = keyof Log;

interface Kind {
  readonly level: Level;
  readonly message: string;
  details: LogDetails;
  repeats: number;
}

export interface SummedLog extends Log {
  close(): void;
}

/**
 * Writes the first line of each kind (level, message and details without the correlator) at once, and after a minute
 * one line for all repeats: an outage takes a few lines a minute. Holds a bounded number of kinds.
 */
export function sumUpRepeats(log: Log, clock: Clock): SummedLog {
  const kinds = new Map<string, Kind>();
  const closing = new AbortController();

  function write(level: Level, message: string, details: LogDetails = {}): void {
    if (closing.signal.aborted) {
      log[level](message, details);
      return;
    }
    const key = keyFor(kinds, level, message, details);
    const known = kinds.get(key);
    if (known !== undefined) {
      known.repeats += 1;
      known.details = details;
      return;
    }
    kinds.set(key, { level, message, details, repeats: 0 });
    log[level](message, details);
    if (kinds.size === 1) void reportEachMinute();
  }

  async function reportEachMinute(): Promise<void> {
    while (kinds.size > 0 && (await slept(clock, EVERY_MS, closing.signal))) reportRepeats();
  }

  /** A kind without a repeat is forgotten: its next line is written at once. */
  function reportRepeats(): void {
    for (const [key, kind] of kinds) {
      const { level, message, details, repeats } = kind;
      if (repeats === 0) kinds.delete(key);
      else log[level](message, { ...details, repeats });
      kind.repeats = 0;
    }
  }

  return {
    ...logOf(write),
    close() {
      reportRepeats();
      closing.abort();
    },
  };
}

function keyFor(
  kinds: ReadonlyMap<string, Kind>,
  level: Level,
  message: string,
  details: LogDetails,
): string {
  const steady = Object.entries(details).filter(([name]) => !CHANGING.has(name));
  const keys = [JSON.stringify([level, message, steady]), JSON.stringify([level, message])];
  return (
    keys
      .map((key) => key.slice(0, MAX_KEY_CHARACTERS))
      .find((key, coarser) => kinds.has(key) || kinds.size < MAX_KINDS * (coarser + 1)) ?? level
  );
}
