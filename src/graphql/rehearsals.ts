import type { LookupFailure } from '../domain/errors.ts';
import type { FieldAnswer } from '../lookups/executor.ts';
import { forbidden } from './answerErrors.ts';

/** A test number for an answer that no operator gives. */
export interface Rehearsal {
  readonly number: string;
  /** What it does, for docs/testing.md. */
  readonly does: string;
  readonly answer: 'FORBIDDEN' | Omit<LookupFailure, 'reach'>;
}

/** Added to the test numbers of the simulator, which knows none of these. */
export const REHEARSALS: readonly Rehearsal[] = [
  {
    number: '+447700900070',
    does: 'the quota of the caller is used up',
    answer: { code: 'RATE_LIMITED', quota: 'lookups', retryAfterSeconds: 60 },
  },
  { number: '+447700900071', does: 'the caller may not check this number', answer: 'FORBIDDEN' },
  {
    number: '+447700900072',
    does: 'the audit log cannot be written',
    answer: { code: 'AUDIT_UNAVAILABLE' },
  },
  {
    number: '+447700900073',
    does: 'the shared state cannot be reached',
    answer: { code: 'STATE_UNAVAILABLE', retryAfterSeconds: 5 },
  },
];

/** Rehearsals by their numbers: while every operator is the simulator, these fail as they do nowhere else. */
export const REHEARSED: ReadonlyMap<string, Rehearsal> = new Map(
  REHEARSALS.map((rehearsal) => [rehearsal.number, rehearsal]),
);

/** @throws {AnswerError} where the caller may not query the number */
export function rehearsedAnswer({ answer }: Rehearsal): FieldAnswer {
  if (answer === 'FORBIDDEN') throw forbidden();
  return { kind: 'failure', failure: { ...answer, reach: 'number' } };
}
