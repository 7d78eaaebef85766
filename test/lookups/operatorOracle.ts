import type { Fact, TimedFact, FailedLookup } from '../../src/domain/fact.ts';
import type { Lookup, Question } from '../../src/domain/question.ts';
import type { LookupFailure } from '../../src/domain/errors.ts';
import { type Offer, type Plan, nextLookup } from '../../src/lookups/planner.ts';
import { HOUR_MS, timed } from '../support/values.ts';

export const NOW_MS = Date.UTC(2026, 0, 1);

/** The truth about a mobile line, and how its operator reports it. */
export interface Line {
  /** Hours since the last swap; absent for a line that never swapped. */
  readonly swappedHoursAgo?: number | undefined;
  readonly activatedHoursAgo: number;
  /** Whether `check` takes the activation for a swap. */
  readonly countsActivation: boolean;
  readonly withholdsDate: boolean;
  /** The period without a swap that is reported beside a withheld date. */
  readonly monitoredPeriodDays?: number | undefined;
  /** How far the disclosed date is off, in hours; less than the operator's margin. */
  readonly dateErrorHours: number;
  /** Larger windows are answered with 400 OUT_OF_RANGE. */
  readonly rangeHours: number;
}

/** The truth: the answer that every lookup would give if nothing failed. */
export function swappedWithin(line: Line, maxAgeHours: number): boolean {
  const changedHoursAgo =
    line.swappedHoursAgo ?? (line.countsActivation ? line.activatedHoursAgo : Infinity);
  return changedHoursAgo <= maxAgeHours;
}

function disclosedDate(line: Line): { text: string; epochMs: number } | null {
  if (line.withholdsDate) return null;
  const hoursAgo = (line.swappedHoursAgo ?? line.activatedHoursAgo) + line.dateErrorHours;
  const epochMs = NOW_MS - hoursAgo * HOUR_MS;
  return { text: new Date(epochMs).toISOString(), epochMs };
}

/** Plays the operator: one lookup, one fact or failure. */
export function operate(line: Line, lookup: Lookup): Fact | LookupFailure {
  if (lookup.operation === 'check') {
    const { maxAgeHours } = lookup;
    if (maxAgeHours > line.rangeHours) return { code: 'PERIOD_NOT_SUPPORTED', reach: 'question' };
    const swapped = swappedWithin(line, maxAgeHours);
    return { operation: 'check', maxAgeHours, swapped, sentAtMs: NOW_MS };
  }
  const latestSimChange = disclosedDate(line);
  const { monitoredPeriodDays } = line;
  // An operator reports a period only where nothing happened within it.
  const isTrue =
    latestSimChange === null &&
    monitoredPeriodDays !== undefined &&
    !swappedWithin(line, monitoredPeriodDays * 24);
  return {
    operation: 'retrieve-date',
    latestSimChange,
    sentAtMs: NOW_MS,
    ...(isTrue ? { monitoredPeriodDays } : {}),
  };
}

/** Whether an answer is right, given the operations that the operator offers. */
export function isRight(
  line: Line,
  question: Question,
  value: unknown,
  offer: Pick<Offer, 'operations'>,
): boolean {
  if (question.about === 'date') {
    const date = disclosedDate(line);
    return date === null
      ? value === null
      : typeof value === 'object' && value !== null && 'text' in value && value.text === date.text;
  }
  if (value === swappedWithin(line, question.maxAgeHours)) return true;
  // With the date alone, `true` may overstate (docs/design.md, "One operation only").
  return value === true && !offer.operations.has('check');
}

/** A plan without open questions, and the lookups that it took. */
export interface Played extends Plan {
  readonly lookups: readonly Lookup[];
}

/** Makes lookups until nothing is open, as the executor does. */
export function play(
  questions: readonly Question[],
  offer: Offer,
  operator: (lookup: Lookup, so: Played) => Fact | LookupFailure,
): Played {
  const facts: TimedFact[] = [];
  const failures: FailedLookup[] = [];
  const lookups: Lookup[] = [];
  const played = { questions, facts, failures, lookups };
  for (let lookup = nextLookup(played, offer); lookup; lookup = nextLookup(played, offer)) {
    if (lookups.length >= 30) throw new Error('Lookups without an end.');
    const outcome = operator(lookup, played);
    lookups.push(lookup);
    if ('operation' in outcome) facts.push(timed(outcome));
    else failures.push({ lookup, failure: outcome });
  }
  return played;
}
