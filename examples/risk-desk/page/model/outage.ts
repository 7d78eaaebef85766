import { PAGE_SIZE } from './pages.ts';
import { reasonOf } from './reasons.ts';
import { failureOf, type RowState } from './verdict.ts';

/** A single page may fail for a reason of its own. */
const LATEST_ROWS = 3 * PAGE_SIZE;
const MIN_ROWS = 2 * PAGE_SIZE;
const MIN_SHARE = 0.8;

/**
 * Whether the latest rows, in the order in which they ended, say that the operator or the service is
 * away: then the run pauses until a person resumes it.
 */
export function isOutage(states: readonly RowState[]): boolean {
  const latest = states.slice(-LATEST_ROWS);
  return latest.length >= MIN_ROWS && latest.filter(isAway).length >= MIN_SHARE * latest.length;
}

/** Whether the latest check of a row failed for the operator, or for the way to it. */
export function isAway(state: RowState): boolean {
  const failure = failureOf(state);
  return failure !== null && reasonOf(failure).isOutage;
}

/** So many rows are an outage, which one banner above the table is about. */
const MIN_AWAY_ROWS = 5;

/** How many rows an outage left without a new answer; 0 where they are too few for a banner. */
export function rowsInOutage(states: readonly RowState[]): number {
  const away = states.filter(isAway).length;
  return away >= MIN_AWAY_ROWS ? away : 0;
}
