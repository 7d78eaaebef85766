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
  if (answer.kind !== 'date') throw unanswered(answer, place);
  return answer.latestSimChange;
}

/** `simSwappedWithin`. @throws {AnswerError} */
export function toSwapped(
  answer: FieldAnswer,
  _asked?: FieldQuestion,
  place?: FieldPlace,
): boolean {
  if (answer.kind !== 'window') throw unanswered(answer, place);
  return answer.swapped;
}

/** `simSwapConsent`. @throws {AnswerError} when the caller may not read it for now */
export function toConsent(
  answer: FieldAnswer,
  _asked?: FieldQuestion,
  place?: FieldPlace,
): ConsentStatus | null {
  if (answer.kind !== 'consent') throw unanswered(answer, place);
  return answer.consent ?? null;
}

/** `simSwapCheck`: a failure is an answer as well. */
export function toSimSwapCheck(answer: FieldAnswer, asked: FieldQuestion): SimSwapCheck {
  if (asked.asks !== 'window') throw new Error(`A check does not ask for the ${asked.asks}.`);
  const check = { ...NOTHING_MORE, windowHours: asked.maxAgeHours };
  switch (answer.kind) {
    case 'window': {
      const result = answer.swapped ? 'SWAPPED' : 'NOT_SWAPPED';
      return { ...check, result, asOf: instantAt(answer.asOfMs) };
    }
    case 'failure': {
      const { code, retryAfterSeconds, expiresAtMs, maxAgeHours } = answer.failure;
      return {
        ...check,
        result: 'UNKNOWN',
        reason: code,
        retryAfterSeconds: retryAfterSeconds ?? null,
        expiresAt: expiresAtMs === undefined ? null : instantAt(expiresAtMs),
        maxAgeHours: maxAgeHours ?? null,
      };
    }
    case 'date':
    case 'consent':
      throw unanswered(answer);
  }
}

const NOTHING_MORE = {
  reason: null,
  retryAfterSeconds: null,
  expiresAt: null,
  maxAgeHours: null,
  asOf: null,
} as const;

/** Why there is no answer of the kind that was asked for; another one is a defect of ours. */
function unanswered(answer: FieldAnswer, place?: FieldPlace): Error {
  return answer.kind === 'failure'
    ? lookupFailed(answer.failure, place)
    : new Error(`An answer of the kind ${answer.kind} was not requested.`);
}
