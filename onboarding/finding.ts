import type { Log } from '../src/log/log.ts';

/** What is tried of an operator, in this order; each step needs those before it. */
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

/** What one step came to: a row of the table. Holds no number, no token and no secret. */
export interface Finding {
  readonly step: Step;
  /** What it was tried at: a host with its port, or an endpoint; empty where it is the operator as a whole. */
  readonly at: string;
  readonly verdict: Verdict;
  /** The end of a row: a few words. */
  readonly found: string;
  /** What to do, in whole sentences. */
  readonly advice?: string;
}

/** All that was found of one operator. */
export interface OperatorReport {
  readonly operator: string;
  readonly findings: readonly Finding[];
  /** Lookups that the operator answered, or may have. */
  readonly billedLookups: number;
}

/** Whether these operators can be called. Pure. */
export function areAllWell(reports: readonly OperatorReport[]): boolean {
  return reports.every(({ findings }) => findings.every(({ verdict }) => verdict !== 'failed'));
}

/** What would be logged is in the table. */
export const SILENT: Log = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
