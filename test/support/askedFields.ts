import {
  FIELDS,
  type QuestionField,
  type FieldArguments,
  type FieldQuestion,
} from '../../src/domain/fields.ts';
import type { Instant } from '../../src/domain/instant.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { LookupFailure } from '../../src/domain/errors.ts';
import type { FieldAnswer, SimSwapLoader } from '../../src/lookups/executor.ts';

export async function askField(
  loader: SimSwapLoader,
  number: PhoneNumber,
  field: QuestionField,
  args: FieldArguments = {},
): Promise<FieldAnswer> {
  const asked = FIELDS[field](args);
  if (asked.kind === 'refused') throw new RangeError(asked.reason);
  const answer = await loader.answer(number, asked.value);
  if (answer.kind === 'defect') throw answer.error;
  return answer;
}

/** The answer to a question that was asked and answered. */
export function answerKnown(
  loader: Pick<SimSwapLoader, 'answer'>,
  number: PhoneNumber,
  question: FieldQuestion,
): FieldAnswer | Error {
  const answer = loader.answer(number, question);
  if (answer instanceof Promise) return new Error('A question is still open.');
  return answer.kind === 'defect' ? answer.error : answer;
}

/** An answer without what most tests are not about: its kind, and when the operator was called. */
export type Told =
  | { readonly latestSimChange: Instant | null }
  | { readonly swapped: boolean }
  | { readonly failure: LookupFailure };

/** An answer, for a test that is not about when the operator was called. */
export function told(answer: FieldAnswer | Error): Told | Error {
  if (answer instanceof Error) return answer;
  switch (answer.kind) {
    case 'date':
      return { latestSimChange: answer.latestSimChange };
    case 'window':
      return { swapped: answer.swapped };
    case 'failure':
      return { failure: answer.failure };
    case 'consent':
      throw new Error('A test about the consent reads it itself.');
  }
}
