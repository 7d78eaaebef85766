import { FIELDS, type AskingField, type FieldArguments } from '../src/domain/fields.ts';
import type { Instant } from '../src/domain/instant.ts';
import type { PhoneNumber } from '../src/domain/phoneNumber.ts';
import type { LookupFailure } from '../src/domain/errors.ts';
import { toDate, toSwapped } from '../src/graphql/answers.ts';
import type { FieldAnswer, SimSwapLoader } from '../src/lookups/executor.ts';
import type { Answer } from '../src/lookups/plan.ts';

/** Asks a loader what a field asks. */
export function askField(
  loader: SimSwapLoader,
  number: PhoneNumber,
  field: AskingField,
  args: FieldArguments = {},
): Promise<FieldAnswer> {
  const ask = FIELDS[field](args);
  switch (ask.kind) {
    case 'parsed':
      return loader.answer(number, ask.value);
    case 'refused':
      return Promise.reject(new RangeError(ask.reason));
  }
}

/** A loader by the names of the fields, which rejects with an `AnswerError` as they do. */
export function fieldsOf(loader: SimSwapLoader) {
  return {
    lastSimSwap: async (number: PhoneNumber): Promise<Instant | null> =>
      toDate(await askField(loader, number, 'lastSimSwap')),
    simSwappedWithin: async (number: PhoneNumber, maxAgeHours: number): Promise<boolean> =>
      toSwapped(await askField(loader, number, 'simSwappedWithin', { maxAgeHours })),
  };
}

/** An answer without what most tests are not about: its kind, and when the operator was called. */
export type Told =
  | { readonly latestSimChange: Instant | null }
  | { readonly swapped: boolean }
  | { readonly failure: LookupFailure };

/** An answer, for a test that is not about when the operator was called. */
export function told(answer: Answer | Error): Told | Error {
  if (answer instanceof Error) return answer;
  switch (answer.kind) {
    case 'date':
      return { latestSimChange: answer.latestSimChange };
    case 'window':
      return { swapped: answer.swapped };
    case 'failure':
      return { failure: answer.failure };
  }
}
