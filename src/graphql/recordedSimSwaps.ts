import type { FieldAnswer, SimSwapLoader } from '../simSwaps/simSwapLoader.ts';
import type { RequestRecord } from './requestRecord.ts';

/** A loader that records what its answers come to. */
export function recordedSimSwaps(loader: SimSwapLoader, record: RequestRecord): SimSwapLoader {
  const asked = new Set<string>();
  return {
    answer(number, ask) {
      const question = `${number} ${ask.key}`;
      if (asked.has(question)) record.repeatedQuestions += 1;
      else asked.add(question);
      const answering = loader.answer(number, ask);
      answering.then(
        (answer) => record.answer(outcomeOf(answer)),
        () => record.answer('INTERNAL_SERVER_ERROR'),
      );
      return answering;
    },
    told: () => loader.told(),
  };
}

function outcomeOf(answer: FieldAnswer): string {
  switch (answer.kind) {
    case 'date':
    case 'window':
    case 'consent':
      return 'answered';
    case 'failure':
      return answer.failure.code;
  }
}
