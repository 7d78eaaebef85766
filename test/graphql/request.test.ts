import { expect, test, vi } from 'vitest';
import { FIELDS, type FieldAsk } from '../../src/domain/fields.ts';
import { GraphqlRequest } from '../../src/graphql/request.ts';
import type { FieldAnswer } from '../../src/lookups/executor.ts';
import { systemClock } from '../../src/system/clock.ts';
import { ALICE, BOB } from '../values.ts';
import { requestAnswering } from './requestAnswering.ts';

const SWAPPED: FieldAnswer = { kind: 'window', swapped: true, asOfMs: 0, from: [] };
const TIMED_OUT: FieldAnswer = {
  kind: 'failure',
  failure: { code: 'OPERATOR_TIMEOUT', reach: 'number' },
};

function window(maxAgeHours: number): FieldAsk {
  const ask = FIELDS.simSwappedWithin({ maxAgeHours });
  if (ask.kind === 'refused') throw new Error(ask.reason);
  return ask.value;
}

test('a question passes the permission first, then the count, then the lookup', async () => {
  const lookUp = vi.fn<() => Promise<FieldAnswer>>(() => Promise.resolve(SWAPPED));
  const limits = { maxNumbersPerOperation: 1, maxQuestionsPerNumber: 1, maxReplyBytes: 1e6 };
  const request = requestAnswering(lookUp, {
    caller: { mayAskAboutAnyone: false },
    config: { limits },
  });

  // Bob's number is neither queried nor counted: Alice's is still the first.
  await expect(request.answer(BOB, window(1))).rejects.toThrow(
    expect.objectContaining({ extensions: { code: 'FORBIDDEN' } }),
  );
  expect(lookUp).not.toHaveBeenCalled();
  expect(await request.answer(ALICE, window(1))).toBe(SWAPPED);
  expect(await request.answer(ALICE, window(1))).toBe(SWAPPED);
  await request.answer(ALICE, window(2));
  await expect(request.answer(ALICE, window(3))).rejects.toThrow('1');
  expect(lookUp).toHaveBeenCalledTimes(3);
  expect(request.report(200)).toMatchObject({
    answers: new Map([['answered', 3]]),
    repeatedQuestions: 1,
  });
});

test('a failure counts by its code, and a defect as one', async () => {
  const outcomes = [() => Promise.resolve(TIMED_OUT), () => Promise.reject(new Error('broken'))];
  const request = requestAnswering(() => outcomes.shift()?.() ?? Promise.resolve(SWAPPED));
  await request.answer(ALICE, window(1));
  await expect(request.answer(ALICE, window(2))).rejects.toThrow('broken');
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
  await expect(request.answer(ALICE, window(1))).rejects.toThrow(
    expect.objectContaining({ extensions: { code: 'FORBIDDEN' } }),
  );
  expect(forRequest).not.toHaveBeenCalled();
  expect(request.report(401).caller).toBeUndefined();
});
