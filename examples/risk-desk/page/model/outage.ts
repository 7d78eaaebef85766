import { PAGE_SIZE } from './pages.ts';
import { reasonOf } from './reasons.ts';
import { verdictOf, type RowState } from './verdict.ts';

/** One page alone may fail for a reason of its own. */
const LATEST_ROWS = 3 * PAGE_SIZE;
const MIN_ROWS = 2 * PAGE_SIZE;
const MIN_SHARE = 0.8;

/**
 * Whether the latest rows, in the order in which they ended, say that the operator or the service is
 * away: then nothing more is asked until a person says so.
 */
export function isOutage(states: readonly RowState[]): boolean {
  const latest = states.slice(-LATEST_ROWS);
  return latest.length >= MIN_ROWS && latest.filter(isAway).length >= MIN_SHARE * latest.length;
}

/** Whether a row has no answer for a reason that speaks for the operator, or for the way to it. */
export function isAway(state: RowState): boolean {
  const verdict = verdictOf(state);
  return verdict.kind === 'unknown' && reasonOf(verdict.reason).isOutage;
}

/** So many rows are an outage to tell of once, above the table. */
const MIN_AWAY_ROWS = 5;

/** How many rows an outage left without an answer; 0 where there are so few that each tells for itself. */
export function rowsInOutage(states: readonly RowState[]): number {
  const away = states.filter(isAway).length;
  return away >= MIN_AWAY_ROWS ? away : 0;
}
