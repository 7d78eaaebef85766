import { expect, test, vi } from 'vitest';
import { FIELDS, type FieldQuestion } from '../../src/domain/fields.ts';
import type { FieldPlace } from '../../src/graphql/answerErrors.ts';
import { GraphqlRequest } from '../../src/graphql/request.ts';
import type { FieldAnswer, SimSwapLoader } from '../../src/lookups/executor.ts';
import { systemClock } from '../../src/system/clock.ts';
import { ALICE, BOB } from '../values.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { requestAnswering } from './requestAnswering.ts';

const SWAPPED: FieldAnswer = { kind: 'window', swapped: true, asOfMs: 0, from: [] };
const TIMED_OUT: FieldAnswer = {
  kind: 'failure',
  failure: { code: 'OPERATOR_TIMEOUT', reach: 'number' },
};

const PLACE: FieldPlace = { fieldNodes: [], path: { prev: undefined, key: 0, typename: 'Query' } };

async function ask(
  request: GraphqlRequest,
  number: PhoneNumber,
  asked: FieldQuestion,
): Promise<FieldAnswer> {
  return request.answer(number, asked, (answer) => answer, PLACE);
}

function window(maxAgeHours: number): FieldQuestion {
  const asked = FIELDS.simSwappedWithin({ maxAgeHours });
  if (asked.kind === 'refused') throw new Error(asked.reason);
  return asked.value;
}

test('a question passes the permission first, then the count, then the lookup', async () => {
  const lookUp = vi.fn<SimSwapLoader['answerTo']>(() => SWAPPED);
  const limits = { maxNumbersPerOperation: 1, maxQuestionsPerNumber: 1, maxReplyBytes: 1e6 };
  const request = requestAnswering(lookUp, {
    caller: { mayAskAboutAnyone: false },
    config: { limits },
  });

  // Bob's number is neither queried nor counted: Alice's is still the first.
  await expect(ask(request, BOB, window(1))).rejects.toThrow(
    expect.objectContaining({ extensions: { code: 'FORBIDDEN' } }),
  );
  expect(lookUp).not.toHaveBeenCalled();
  expect(await ask(request, ALICE, window(1))).toBe(SWAPPED);
  expect(await ask(request, ALICE, window(1))).toBe(SWAPPED);
  await ask(request, ALICE, window(2));
  await expect(ask(request, ALICE, window(3))).rejects.toThrow('1');
  expect(lookUp).toHaveBeenCalledTimes(3);
  expect(request.report(200)).toMatchObject({
    answers: new Map([['answered', 3]]),
    repeatedQuestions: 1,
  });
});

test('a failure counts by its code, and a defect as one', async () => {
  const outcomes = [TIMED_OUT, new Error('broken')];
  const request = requestAnswering(() => outcomes.shift() ?? SWAPPED);
  await ask(request, ALICE, window(1));
  await expect(ask(request, ALICE, window(2))).rejects.toThrow('broken');
  expect(request.report(200).answers).toEqual(
    new Map([
      ['OPERATOR_TIMEOUT', 1],
      ['INTERNAL_SERVER_ERROR', 1],
    ]),
  );
});

test('a request that is not admitted asks nothing, and its report names no caller', async () => {
  const forRequest = vi.fn<() => never>();
  const request = new GraphqlRequest(
    {
      config: {
        limits: { maxNumbersPerOperation: 1, maxQuestionsPerNumber: 1, maxReplyBytes: 1 },
        docsUrl: undefined,
      },
      simSwaps: { forRequest, asksOwners: true },
      quotas: { standingOf: () => Promise.resolve([]) },
      clock: systemClock,
    },
    { timeoutMs: 1000, correlator: undefined },
  );
  await expect(ask(request, ALICE, window(1))).rejects.toThrow(
    expect.objectContaining({ extensions: { code: 'FORBIDDEN' } }),
  );
  expect(forRequest).not.toHaveBeenCalled();
  expect(request.report(401).caller).toBeUndefined();
});
