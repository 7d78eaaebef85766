import type { Log } from '../src/log/log.ts';

/** The steps of a check, in order; each step needs those before it. */
export const STEPS = [
  'papers',
  'files',
  'proxy',
  'name',
  'tcp',
  'tls',
  'http',
  'discovery',
  'credentials',
  'scopes',
  'clock',
  'consent',
  'lookup',
  'echo',
  'tokens',
  'billed',
] as const;

export type Step = (typeof STEPS)[number];

/** `failed`: the operator cannot be called like this. `warning`: it can, and something needs attention. */
export type Verdict = 'ok' | 'warning' | 'failed' | 'not tried';

/** The outcome of one step: a row of the table. Has no number, no token and no secret. */
export interface Finding {
  readonly step: Step;
  /** Where it was checked: a host with its port, or an endpoint; empty for the operator as a whole. */
  readonly at: string;
  readonly verdict: Verdict;
  /** The end of a row: a few words. */
  readonly found: string;
  /** What to do, in whole sentences. */
  readonly advice?: string;
}

/** All findings about one operator. */
export interface OperatorReport {
  readonly operator: string;
  readonly findings: readonly Finding[];
  /** Lookups that the operator answered, or may have answered. */
  readonly billedLookups: number;
}

/** Whether all these operators can be called. Pure. */
export function areAllWell(reports: readonly OperatorReport[]): boolean {
  return reports.every(({ findings }) => findings.every(({ verdict }) => verdict !== 'failed'));
}

/** The table has everything that would be logged. */
export const SILENT: Log = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
