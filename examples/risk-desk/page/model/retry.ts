import type { DeskRow } from './deskRow.ts';
import { reasonOf } from './reasons.ts';
import { failureOf } from './verdict.ts';

/** What a retry can check, and when. */
export interface RetryPlan {
  /** At once. */
  readonly due: readonly DeskRow[];
  /** Failed for a reason that may pass, but not before `nextAtMs`. */
  readonly later: number;
  readonly nextAtMs: number | null;
}

/** Only what failed for a reason that may pass, and no sooner than the service said. */
export function retryPlan(rows: readonly DeskRow[], nowMs: number): RetryPlan {
  const passing = rows.filter(({ state }) => {
    const failure = failureOf(state);
    return failure !== null && reasonOf(failure).mayPass;
  });
  const later = passing.filter(({ retryAtMs }) => retryAtMs > nowMs);
  return {
    due: passing.filter(({ retryAtMs }) => retryAtMs <= nowMs),
    later: later.length,
    nextAtMs: later.reduce<number | null>(
      (next, { retryAtMs }) => (next === null ? retryAtMs : Math.min(next, retryAtMs)),
      null,
    ),
  };
}
