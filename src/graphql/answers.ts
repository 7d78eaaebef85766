import type { FieldQuestion } from '../domain/fields.ts';
import { instantAt, type Instant } from '../domain/instant.ts';
import type { FieldAnswer } from '../lookups/executor.ts';
import type { ConsentStatus } from '../domain/consentStatus.ts';
import { lookupFailed, type FieldPlace } from './answerErrors.ts';
import type { SimSwapCheck } from './generated/resolvers.ts';

/** `lastSimSwap`. @throws {AnswerError} */
export function toDate(
  answer: FieldAnswer,
  _asked?: FieldQuestion,
  place?: FieldPlace,
): Instant | null {
  switch (answer.kind) {
    case 'date':
      return answer.latestSimChange;
    case 'failure':
      throw lookupFailed(answer.failure, place);
    case 'window':
    case 'consent':
      throw notWhatWasAsked(answer);
  }
}

/** `simSwappedWithin`. @throws {AnswerError} */
export function toSwapped(
  answer: FieldAnswer,
  _asked?: FieldQuestion,
  place?: FieldPlace,
): boolean {
  switch (answer.kind) {
    case 'window':
      return answer.swapped;
    case 'failure':
      throw lookupFailed(answer.failure, place);
    case 'date':
    case 'consent':
      throw notWhatWasAsked(answer);
  }
}

/** `simSwapCheck`: a failure is an answer as well. */
export function toSimSwapCheck(answer: FieldAnswer, asked: FieldQuestion): SimSwapCheck {
  const windowHours = hoursOf(asked);
  switch (answer.kind) {
    case 'window':
      return {
        ...NOTHING_MORE,
        windowHours,
        result: answer.swapped ? 'SWAPPED' : 'NOT_SWAPPED',
        asOf: instantAt(answer.asOfMs),
      };
    case 'failure': {
      const { code, retryAfterSeconds, expiresAtMs, maxAgeHours } = answer.failure;
      return {
        ...NOTHING_MORE,
        windowHours,
        result: 'UNKNOWN',
        reason: code,
        retryAfterSeconds: retryAfterSeconds ?? null,
        expiresAt: expiresAtMs === undefined ? null : instantAt(expiresAtMs),
        maxAgeHours: maxAgeHours ?? null,
      };
    }
    case 'date':
    case 'consent':
      throw notWhatWasAsked(answer);
  }
}

function hoursOf(asked: FieldQuestion): number {
  switch (asked.asks) {
    case 'window':
      return asked.maxAgeHours;
    case 'date':
    case 'consent':
      throw new Error(`A check does not ask for the ${asked.asks}.`);
  }
}

const NOTHING_MORE = {
  reason: null,
  retryAfterSeconds: null,
  expiresAt: null,
  maxAgeHours: null,
  asOf: null,
} as const;

/** `simSwapConsent`. @throws {AnswerError} when the caller may not read it for now */
export function toConsent(
  answer: FieldAnswer,
  _asked?: FieldQuestion,
  place?: FieldPlace,
): ConsentStatus | null {
  switch (answer.kind) {
    case 'consent':
      return answer.consent ?? null;
    case 'failure':
      throw lookupFailed(answer.failure, place);
    case 'date':
    case 'window':
      throw notWhatWasAsked(answer);
  }
}

/** A defect of ours. */
function notWhatWasAsked({ kind }: FieldAnswer): Error {
  return new Error(`An answer of the kind ${kind}was not requested.`);
}
