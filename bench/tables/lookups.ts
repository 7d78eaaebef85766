import { EVERYBODY, type Cast, type EntrantName } from '../cast.ts';
import { nameOf, type Workload } from '../workload.ts';
import { measure, type Case, type Plan } from './measure.ts';
import type { Table } from './table.ts';

const FEW = { concurrency: 1, requests: 2 };
/** Counts are the same in every round. */
const ROUNDS = { full: 1, quick: 1 };
const FULL_ROUNDS = { full: 1, quick: 0 };

const NONE_SWAPPED: readonly (readonly [Workload, Case['rounds']])[] = [
  [{ ...FEW, numbers: 50, fields: 'date' }, FULL_ROUNDS],
  [{ ...FEW, numbers: 50, fields: 'window' }, FULL_ROUNDS],
  [{ ...FEW, numbers: 50, fields: 'date and three windows' }, ROUNDS],
  [{ ...FEW, numbers: 50, fields: 'window', isOneNumber: true }, ROUNDS],
];
const MIX: Workload = { ...FEW, numbers: 1000, fields: 'date and three windows' };

const IN_THE_GUARD: readonly EntrantName[] = ['ours', 'ours again'];

/** What the operator bills, as the operator counts it. */
export async function measureLookups(cast: Cast, plan: Plan): Promise<Table> {
  const names = plan.isQuick ? IN_THE_GUARD : EVERYBODY;
  const cases = NONE_SWAPPED.map(([workload, rounds]) => ({
    name: nameOf(workload),
    rounds,
    entrants: () => cast.entrants(names, workload),
  }));
  const mix: Case = {
    name: `${nameOf(MIX)}, 1 % swapped`,
    rounds: ROUNDS,
    manners: { swappedEvery: 100 },
    entrants: () => cast.entrants(names, MIX),
  };
  return {
    name: 'lookups',
    title: 'What the operator bills',
    shows: ['lookupsPerQuery', 'tokensPerQuery', 'promptsPerQuery'],
    comparisons: [{ figure: 'lookupsPerQuery', against: 'ours' }],
    rows: await measure(cast, plan, [...cases, mix]),
  };
}
