import type { Caller } from '../caller/caller.ts';
import type { OperationLimits } from '../graphql/operationCost.ts';
import { limitExceeded, severalForbidden } from '../graphql/refusals.ts';
import type { SimSwapLoader } from '../simSwaps/simSwapLoader.ts';

/**
 * A loader that asks no more in one request than an operation may. The service counts before it executes; here numbers
 * come in by fields of another program as well, and show only then. A question beyond the limit is refused, and those
 * before it are answered.
 */
export function boundedSimSwaps(
  loader: SimSwapLoader,
  { missingBatchScope }: Pick<Caller, 'missingBatchScope'>,
  { maxNumbersPerOperation, maxQuestionsPerNumber }: OperationLimits,
): SimSwapLoader {
  const questionsByNumber = new Map<string, Set<string>>();
  return {
    answer(number, ask) {
      const questions = questionsByNumber.get(number) ?? new Set();
      if (questions.size === 0 && questionsByNumber.size >= 1 && missingBatchScope !== undefined) {
        return Promise.reject(severalForbidden(missingBatchScope));
      }
      if (questions.size === 0 && questionsByNumber.size >= maxNumbersPerOperation) {
        return refused('numbers', maxNumbersPerOperation);
      }
      if (!questions.has(ask.key) && questions.size >= maxQuestionsPerNumber + CONSENT) {
        return refused('questionsPerNumber', maxQuestionsPerNumber);
      }
      questionsByNumber.set(number, questions.add(ask.key));
      return loader.answer(number, ask);
    },
    told: () => loader.told(),
  };
}

/** How the consent stands is asked beside the questions: it is no lookup. */
const CONSENT = 1;

function refused(limited: 'numbers' | 'questionsPerNumber', limit: number): Promise<never> {
  return Promise.reject(limitExceeded({ limited, limit, asked: limit + 1 }));
}
