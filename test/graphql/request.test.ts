import { execute, parse } from 'graphql';
import { expect, test, vi } from 'vitest';
import { FIELDS, type FieldQuestion } from '../../src/domain/fields.ts';
import type { FieldPlace } from '../../src/graphql/answerErrors.ts';
import { GraphqlRequest, type CountQuestion } from '../../src/graphql/request.ts';
import type { Rehearsal } from '../../src/graphql/rehearsals.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import type { FieldAnswer } from '../../src/lookups/executor.ts';
import { systemClock } from '../../src/system/clock.ts';
import { ALICE, BOB } from '../support/values.ts';
import type { Parsed, PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { requestAnswering } from './requestAnswering.ts';

const SWAPPED: FieldAnswer = { kind: 'window', swapped: true, asOfMs: 0, from: [] };
const TIMED_OUT: FieldAnswer = {
  kind: 'failure',
  failure: { code: 'OPERATOR_TIMEOUT', reach: 'number' },
};

const DATE: FieldQuestion = parsed(FIELDS.lastSimSwap());
const CONSENT: FieldQuestion = parsed(FIELDS.simSwapConsent());

const PLACE: FieldPlace = { fieldNodes: [], path: { prev: undefined, key: 0, typename: 'Query' } };

async function ask(
  request: GraphqlRequest,
  number: PhoneNumber,
  asked: FieldQuestion,
): Promise<FieldAnswer> {
  return request.answer(number, asked, (answer) => answer, PLACE);
}

function window(maxAgeHours: number): FieldQuestion {
  return parsed(FIELDS.simSwappedWithin({ maxAgeHours }));
}

function parsed(asked: Parsed<FieldQuestion>): FieldQuestion {
  if (asked.kind === 'refused') throw new Error(asked.reason);
  return asked.value;
}

test('a question passes the permission first, then the count, then the lookup', async () => {
  const lookUp = vi.fn<() => FieldAnswer>(() => SWAPPED);
  const countQuestion = vi.fn<CountQuestion>((_number, asked) => {
    if (asked === window(3)) throw new Error('1');
  });
  const request = requestAnswering(lookUp, {
    caller: { mayAskAboutAnyone: false },
    countQuestion,
  });

  // Bob's number is neither queried nor counted.
  await expect(ask(request, BOB, window(1))).rejects.toThrow(
    expect.objectContaining({ extensions: { code: 'FORBIDDEN' } }),
  );
  expect(lookUp).not.toHaveBeenCalled();
  expect(countQuestion).not.toHaveBeenCalled();
  expect(await ask(request, ALICE, window(1))).toBe(SWAPPED);
  expect(await ask(request, ALICE, window(1))).toBe(SWAPPED);
  await ask(request, ALICE, window(2));
  await expect(ask(request, ALICE, window(3))).rejects.toThrow('1');
  expect(lookUp).toHaveBeenCalledTimes(3);
  expect(request.report(200).answers).toEqual(new Map([['answered', 3]]));
});

test.each([
  ['{ phoneNumbers(e164s: $l) { simSwappedWithin(maxAgeHours: $h) } }', [window(3)]],
  [
    '{ phoneNumbers(e164s: $l) { ...F a: simSwapCheck(maxAgeHours: 3) b: simSwappedWithin } }',
    [window(3), window(240), DATE],
  ],
  ['{ phoneNumbers(e164s: $l) { simSwapConsent { state } lastSimSwap @skip(if: $s) } }', [CONSENT]],
  ['{ x: phoneNumbers(e164s: $l) { lastSimSwap } x: phoneNumbers(e164s: $l) { ...F } }', [DATE]],
  ['{ phoneNumbers(e164s: $l) { e164 simSwappedWithin(maxAgeHours: 0) } }', []],
])('the questions of a list are known before its fields: %s', async (selected, expected) => {
  let questions: readonly FieldQuestion[] = [];
  const planned: GraphqlRequest['planned'] = (entities, below) => {
    questions = below();
    return entities;
  };
  const answering = requestAnswering(() => SWAPPED);
  const query = `query ($l: [ID!]!, $h: Int! = 3, $s: Boolean! = true) ${selected}
    fragment F on PhoneNumber { ... { lastSimSwap @include(if: $s) } }`;
  const document = parse(query);
  const contextValue = { request: { answer: answering.answer.bind(answering), planned } };
  const args = {
    schema: createSchema('bff'),
    document,
    contextValue,
    variableValues: { l: [ALICE, BOB] },
  };
  await execute(args);
  expect(new Set(questions)).toEqual(new Set(expected));
});

test('a failure counts by its code, and a defect as one', async () => {
  const outcomes = [TIMED_OUT, { kind: 'defect', error: new Error('broken') } as const];
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

test('a rehearsed answer repeats no question', async () => {
  const rehearsal: Rehearsal = {
    number: ALICE,
    does: 'the operator takes too long',
    answer: { code: 'OPERATOR_TIMEOUT' },
  };
  const request = requestAnswering(() => SWAPPED, { rehearsals: new Map([[ALICE, rehearsal]]) });
  await ask(request, ALICE, window(1)).catch(() => undefined);
  expect(request.report(200).repeatedQuestions).toBe(0);
});

test('a request that is not admitted asks nothing, and its report names no caller', async () => {
  const forRequest = vi.fn<() => never>();
  const request = new GraphqlRequest(
    {
      config: { docsUrl: undefined },
      simSwaps: { forRequest, promptsOwners: true },
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
