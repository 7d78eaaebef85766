import DataLoader from 'dataloader';
import type { Instant } from '../domain/instant.ts';
import type { MaxAgeHours } from '../domain/maxAge.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Question } from '../domain/question.ts';
import { LookupError } from '../errors.ts';
import type { Executor } from '../lookups/executor.ts';
import type { ConsentStatus } from '../tokens/consents/consentStatus.ts';

/** Gathers one request's questions, tick by tick, and answers each. Rejects with a `LookupError`. */
export interface SimSwapLoader {
  /** When the SIM last changed; `null` when the operator may not disclose it. */
  lastSimSwap(number: PhoneNumber): Promise<Instant | null>;
  /** Whether the SIM changed in the last `maxAgeHours`. */
  simSwappedWithin(number: PhoneNumber, maxAgeHours: MaxAgeHours): Promise<boolean>;
  /** How the consent stands, after what is asked in the same tick; `undefined` when nobody can tell. */
  consent(number: PhoneNumber): Promise<ConsentStatus | undefined>;
}

/** A question about a number: DataLoader gathers these, and asks each once however often it is asked. */
interface NumberQuestion {
  readonly number: PhoneNumber;
  /** One for the operator, or how the consent stands, which asks nobody anything. */
  readonly question: Question | { readonly asks: 'consent' };
}

/** A date question is answered by one of the first two, a window by the third, the consent by the last. */
type Value = Instant | null | boolean | ConsentStatus | undefined;

/** One loader for one request. */
export function createSimSwapLoader(executor: Executor): SimSwapLoader {
  const loader = new DataLoader<NumberQuestion, Value, string>(
    (asked) => answerAll(executor, asked),
    { cacheKeyFn: cacheKey },
  );
  // The planner answers each kind of question with its kind of value; DataLoader has one type for all.
  // oxlint-disable typescript/no-unsafe-type-assertion
  return {
    lastSimSwap: (number) =>
      loader.load({ number, question: { asks: 'date' } }) as Promise<Instant | null>,
    simSwappedWithin: (number, maxAgeHours) =>
      loader.load({ number, question: { asks: 'window', maxAgeHours } }) as Promise<boolean>,
    consent: (number) =>
      loader.load({ number, question: { asks: 'consent' } }) as Promise<ConsentStatus | undefined>,
  };
  // oxlint-enable typescript/no-unsafe-type-assertion
}

/** Questions about one number are planned together, whatever fields they come from (design §3). */
async function answerAll(
  executor: Executor,
  asked: readonly NumberQuestion[],
): Promise<(Value | Error)[]> {
  const byNumber = new Map<PhoneNumber, Question[]>();
  const consentsOf: PhoneNumber[] = [];
  for (const { number, question } of asked) {
    const questions = byNumber.get(number) ?? [];
    byNumber.set(number, questions);
    if (question.asks === 'consent') consentsOf.push(number);
    else questions.push(question);
  }
  await Promise.all(Array.from(byNumber, ([number, questions]) => executor.ask(number, questions)));
  const consents = new Map<PhoneNumber, ConsentStatus | LookupError | undefined>();
  await Promise.all(
    consentsOf.map(async (number) => {
      const reading = await executor.consent(number);
      const isRead = 'status' in reading;
      consents.set(number, isRead ? reading.status : new LookupError(reading.failure));
    }),
  );
  return asked.map(({ number, question }) =>
    question.asks === 'consent' ? consents.get(number) : valueOf(executor, number, question),
  );
}

function valueOf(executor: Executor, number: PhoneNumber, question: Question): Value | Error {
  const answer = executor.answerTo(number, question);
  if (answer instanceof Error) return answer;
  if ('failure' in answer) return new LookupError(answer.failure);
  return 'swapped' in answer ? answer.swapped : answer.latestSimChange;
}

function cacheKey({ number, question }: NumberQuestion): string {
  return question.asks === 'window'
    ? `${number} ${question.maxAgeHours}`
    : `${number} ${question.asks}`;
}
