import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { Question } from '../../src/domain/question.ts';
import { createCorrelator } from '../../src/system/correlator.ts';
import { Executor } from '../../src/lookups/executor.ts';
import type { LookupRequest, LookupRoute } from '../../src/lookups/lookupRoute.ts';
import type { Operators, OperatorsInTurn } from '../../src/lookups/operators.ts';
import type { Offer } from '../../src/lookups/planner.ts';
import type { Clock } from '../../src/system/clock.ts';
import { answerKnown, told, type Told } from '../support/askedFields.ts';
import { callerNamed, hours, purposeNamed } from '../support/values.ts';
import { LightAbortSignal } from '../../src/system/urgency.ts';

export const DATE: Question = { about: 'date' };

export function window(maxAgeHours: number): Question {
  return { about: 'window', maxAgeHours: hours(maxAgeHours) };
}

/** An operator that offers everything. */
export const OFFER: Offer = {
  operations: new Set(['retrieve-date', 'check']),
  maxAgeHours: 2400,
  dateMarginHours: 48,
  trustMonitoredPeriod: true,
};

/** How a request differs from others. */
export type RequestSettings = Partial<Omit<LookupRequest, 'caller' | 'purpose'>> & {
  readonly caller?: string;
  readonly purpose?: string;
};

/** A request that comes in now. */
export function requestAt(
  clock: Pick<Clock, 'monotonicMs'>,
  { caller = 'anna', purpose = 'fraud-prevention', ...settings }: RequestSettings = {},
): LookupRequest {
  const cameInAtMs = clock.monotonicMs();
  return {
    caller: callerNamed(caller),
    purpose: purposeNamed(purpose),
    correlator: createCorrelator(undefined),
    cameInAtMs,
    signal: new LightAbortSignal(),
    deadlineMs: cameInAtMs + 10_000,
    ...settings,
  };
}

/** Every number is served by these operators, in turn. */
export function servedBy(...inTurn: OperatorsInTurn): Operators {
  return { of: () => ({ kind: 'served', inTurn }) };
}

/** An executor for a request that one operator serves. */
export function executorOn(route: LookupRoute, request: LookupRequest, offer = OFFER): Executor {
  return new Executor(servedBy({ name: 'operator', offer, route }), request);
}

/** Asks all questions in one tick. */
export async function askAll(
  executor: Executor,
  number: PhoneNumber,
  questions: readonly Question[],
): Promise<void> {
  await Promise.all(questions.map(async (question) => executor.answer(number, question)));
}

/** The answers as values or failures, in the order of the questions. */
export function answersOf(
  executor: Executor,
  number: PhoneNumber,
  questions: readonly Question[],
): (Told | Error)[] {
  return questions.map((question) => told(answerKnown(executor, number, question)));
}
