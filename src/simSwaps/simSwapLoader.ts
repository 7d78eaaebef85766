import DataLoader from 'dataloader';
import type { FieldAsk } from '../domain/fields.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Question } from '../domain/question.ts';
import type { Executor } from '../lookups/executor.ts';
import type { ConsentReading } from '../lookups/lookupRoute.ts';
import type { Answer } from '../lookups/plan.ts';
import type { ConsentStatus } from '../domain/consentStatus.ts';

/** What a field hears: an answer, or how the consent stands, `undefined` when that cannot be told. */
export type FieldAnswer =
  Answer | { readonly kind: 'consent'; readonly consent: ConsentStatus | undefined };

/** Gathers one request's questions, tick by tick, and answers each. */
export interface SimSwapLoader {
  /**
   * The answer to what a field asks. The consent is told after what is asked in the same tick. Rejects for
   * a defect of ours alone: a lookup that failed is an answer.
   */
  answer(number: PhoneNumber, ask: FieldAsk): Promise<FieldAnswer>;
  /** Notes that the answers so far have reached the caller: without it they count as not heard. */
  told(): void;
}

/** What DataLoader gathers; it asks each question about a number once, however often it is asked. */
interface NumberAsk {
  readonly number: PhoneNumber;
  readonly ask: FieldAsk;
}

/** One loader for one request. */
export function createSimSwapLoader(executor: Executor): SimSwapLoader {
  const loader = new DataLoader<NumberAsk, Promise<FieldAnswer>, string>(
    (asks) => Promise.resolve(answerAll(executor, asks)),
    { cacheKeyFn: ({ number, ask }) => `${number} ${ask.key}` },
  );
  return {
    answer: async (number, ask) => await loader.load({ number, ask }),
    told: () => executor.told(),
  };
}

/**
 * Questions about one number are planned together, whatever fields they come from (docs/design.md, "From
 * questions to lookups"). Each number has its answers as soon as its own operator has given them.
 */
function answerAll(executor: Executor, asks: readonly NumberAsk[]): Promise<FieldAnswer>[] {
  const questionsByNumber = new Map<PhoneNumber, Question[]>();
  for (const { number, ask } of asks) {
    const questions = questionsByNumber.get(number) ?? [];
    questionsByNumber.set(number, questions);
    if (ask.asked.asks !== 'consent') questions.push(ask.asked);
  }
  const runs = new Map(
    Array.from(
      questionsByNumber,
      ([number, questions]) => [number, executor.ask(number, questions)] as const,
    ),
  );
  return asks.map((ask) => answerAfter(runs.get(ask.number), executor, ask));
}

async function answerAfter(
  run: Promise<void> | undefined,
  executor: Executor,
  { number, ask: { asked } }: NumberAsk,
): Promise<FieldAnswer> {
  await run;
  switch (asked.asks) {
    case 'date':
    case 'window': {
      const answer = executor.answerTo(number, asked);
      if (answer instanceof Error) throw answer;
      return answer;
    }
    case 'consent':
      return consentAnswer(await executor.consent(number));
  }
}

function consentAnswer(reading: ConsentReading): FieldAnswer {
  switch (reading.kind) {
    case 'read':
      return { kind: 'consent', consent: reading.status };
    case 'failed':
      return { kind: 'failure', failure: reading.failure };
  }
}
