import { slept, type Clock } from '../system/clock.ts';
import type { Log } from '../log/log.ts';

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;

/** Something that every answer depends on. */
export interface Need {
  /** For the log and for `/readyz`, which any client may read. */
  readonly name: string;
  /** Resolves when it works; rejects, in bounded time, when it does not. */
  probe(): Promise<unknown>;
}

export interface ReadinessParts {
  readonly needs: readonly Need[];
  readonly clock: Clock;
  readonly log: Log;
  /** A number from 0 up to 1. */
  readonly random: () => number;
}

/**
 * Whether everything that answers depend on has worked since the start. Each need is probed until it works once. A
 * later loss does not count: all replicas would become unready together, and none would be left to report the reason.
 */
export function createReadiness({ needs, clock, log, random }: ReadinessParts) {
  const waitingFor = new Set(needs);
  const stopping = new AbortController();
  const untilItWorks = async (need: Need): Promise<void> => {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, 2 * pauseMs)) {
      try {
        await need.probe();
        waitingFor.delete(need);
        return;
      } catch {
        if (stopping.signal.aborted) return;
        log.warn('Not ready: a dependency does not work yet.', { need: need.name });
      }
      // Replicas that start together probe at different times.
      if (!(await slept(clock, pauseMs * (0.5 + random() / 2), stopping.signal))) return;
    }
  };
  return {
    waitingFor: (): readonly string[] => Array.from(waitingFor, ({ name }) => name),
    /** Resolves to `true` when every need has worked, to `false` when it is stopped before. */
    async begin(): Promise<boolean> {
      await Promise.all(needs.map(untilItWorks));
      return waitingFor.size === 0;
    },
    stop: () => stopping.abort(),
  };
}
