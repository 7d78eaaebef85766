import type { Cast } from '../cast.ts';
import { other, ours, raw, type Contestant } from '../contestants/contestant.ts';
import type { Terms } from '../measure/costs.ts';
import { LOOKUPS_ONE_BY_ONE, type Workload } from '../workload.ts';
import { row, type Candidate } from './measure.ts';

/** Who takes part on the plain wire, as the tables name them; a name that ends in `again` is the same process. */
export const PLAIN = {
  'raw undici': raw(),
  ours: ours(),
  'ours again': ours(),
  'ours in production': ours({ production: 'whole' }),
  'tuned Apollo': other('tunedApollo'),
  mercurius: other('mercurius'),
  'rest data source': other('restDataSource'),
} as const satisfies Record<string, Contestant>;

export type PlainName = keyof typeof PLAIN;
export const PLAIN_NAMES = Object.keys(PLAIN) as PlainName[];

/** All of these, each with the same workload before it. */
export function plainRows(
  cast: Cast,
  names: readonly PlainName[],
  workload: Workload,
  terms?: Terms,
): Candidate[] {
  return names.map((name) => row(cast, name, PLAIN[name], workload, terms));
}

/**
 * How much of a workload's queries a contestant gets, so that every round takes about as long: a longer one
 * would catch more of what else the machine does, a shorter one would know it less well.
 */
const SHARES: Readonly<Partial<Record<PlainName, number>>> = {
  'raw undici': 2,
  'rest data source': 0.5,
};

/** The same, each with its share of the workload. */
export function sharedRows(
  cast: Cast,
  names: readonly PlainName[],
  workload: Workload,
): Candidate[] {
  return names.map((name) => {
    const lookups = name.startsWith('ours') ? 1 : LOOKUPS_ONE_BY_ONE[workload.fields];
    const requests = Math.round((workload.requests * (SHARES[name] ?? 1)) / lookups);
    return row(cast, name, PLAIN[name], { ...workload, requests: Math.max(1, requests) });
  });
}
