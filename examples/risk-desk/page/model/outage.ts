import { PAGE_SIZE } from './pages.ts';
import { reasonOf, type Away } from './reasons.ts';
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
  return awayOf(state) !== null;
}

function awayOf(state: RowState): Away | null {
  const failure = failureOf(state);
  return failure === null ? null : reasonOf(failure).away;
}

/** So many rows are an outage, which one banner above the table is about. */
const MIN_AWAY_ROWS = 5;

/** An outage, as one banner says it. */
export interface Outage {
  /** Who failed: where several did, the nearest, since nothing is known of what is behind it. */
  readonly away: Away;
  /** How many rows it left without a new answer. */
  readonly rows: number;
}

/** `null` where too few rows are concerned for a banner. */
export function outageOf(states: readonly RowState[]): Outage | null {
  const counts = { page: 0, service: 0, operator: 0 };
  for (const state of states) {
    const away = awayOf(state);
    if (away !== null) counts[away] += 1;
  }
  const rows = counts.page + counts.service + counts.operator;
  if (rows < MIN_AWAY_ROWS) return null;
  const away = (['page', 'service', 'operator'] as const).find((one) => counts[one] * 2 >= rows);
  return { away: away ?? 'service', rows };
}
