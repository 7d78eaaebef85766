import type { Cast } from '../cast.ts';
import { nameOf, type Workload } from '../workload.ts';
import { PLAIN_NAMES, plainRows } from './contestants.ts';
import { measure, type Plan } from './measure.ts';
import type { Table } from './table.ts';

const FEW = { concurrency: 1, requests: 2 };
/** Counts are the same in every round. */
const ONCE = { full: 1, quick: 1 };

const NONE_SWAPPED: readonly Workload[] = [
  { ...FEW, numbers: 50, fields: 'date and three windows' },
  { ...FEW, numbers: 50, fields: 'window', isOneNumber: true },
];
const MIX: Workload = { ...FEW, numbers: 1000, fields: 'date and three windows' };

/** What the operator bills, as the operator counts it. */
export async function measureLookups(cast: Cast, plan: Plan): Promise<Table> {
  const cases = NONE_SWAPPED.map((workload) => ({
    name: nameOf(workload),
    rounds: ONCE,
    rows: plainRows(cast, PLAIN_NAMES, workload),
  }));
  const mix = {
    name: `${nameOf(MIX)}, 1 % swapped`,
    rounds: ONCE,
    conditions: { swappedEvery: 100 },
    rows: plainRows(cast, PLAIN_NAMES, MIX),
  };
  return {
    name: 'lookups',
    title: 'What the operator bills',
    shows: ['lookupsPerQuery', 'tokensPerQuery'],
    comparisons: [{ figure: 'lookupsPerQuery', against: 'ours' }],
    rows: await measure(cast, plan, 'lookups', [...cases, mix]),
  };
}
