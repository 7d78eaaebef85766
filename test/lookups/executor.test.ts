import { describe, expect, it } from 'vitest';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { Lookup, Question } from '../../src/domain/question.ts';
import type { LookupFailure } from '../../src/domain/errors.ts';
import type { TimedFact } from '../../src/domain/fact.ts';
import { Executor } from '../../src/lookups/executor.ts';
import { KeptFacts } from '../../src/lookups/keptAnswers.ts';
import {
  lookupFailed,
  type LookupOutcome,
  type LookupRoute,
} from '../../src/lookups/lookupRoute.ts';
import { NumbersAtWork } from '../../src/lookups/numbersAtWork.ts';
import { NOT_SERVED, type Routing } from '../../src/lookups/operators.ts';
import { settled, TestClock } from '../support/testClock.ts';
import {
  ALICE,
  BOB,
  changed,
  checked,
  hours,
  OPEN_AUTHORIZER,
  timed,
  withheld,
} from '../support/values.ts';
import {
  answersOf,
  askAll,
  DATE,
  executorOn,
  OFFER,
  requestAt,
  servedBy,
  window,
} from './requests.ts';

const WINDOW = window(240);
const FALSE = { swapped: false };

function neverSwapped(lookup: Lookup): LookupOutcome {
  const fact = lookup.operation === 'check' ? checked(lookup.maxAgeHours, false) : changed(9000);
  return { kind: 'facts', facts: [fact] };
}

const consent = () => Promise.resolve({ kind: 'read', status: undefined } as const);
const close = () => Promise.resolve();

/** A request, and the lookups that it makes. */
function load(lookUp: (lookup: Lookup, number: PhoneNumber) => Promise<LookupOutcome>) {
  const lookups: string[] = [];
  const route: LookupRoute = {
    lookUp(lookup, { number }) {
      const asked = lookup.operation === 'check' ? ` ${lookup.maxAgeHours}` : '';
      lookups.push(`${number} ${lookup.operation}${asked}`);
      return lookUp(lookup, number);
    },
    consent,
    close,
  };
  const executor = executorOn(route, requestAt(new TestClock()));
  const ask = async (questions: readonly Question[], number = ALICE) => {
    await askAll(executor, number, questions);
    return answersOf(executor, number, questions);
  };
  return { executor, lookups, ask };
}

it('all questions about one number are one plan, and equal questions are one', async () => {
  const { lookups, ask } = load(async (lookup) => neverSwapped(lookup));
  const windows = [240, 24, 240].map(window);
  const asked = [ask(windows), ask([window(72)], BOB), ask([window(24)])];
  expect(await Promise.all(asked)).toEqual([[FALSE, FALSE, FALSE], [FALSE], [FALSE]]);
  expect(lookups).toEqual([`${ALICE} check 240`, `${BOB} check 72`]);
  // Facts answer later questions.
  for (const hoursLong of [12, 720]) expect(await ask([window(hoursLong)])).toEqual([FALSE]);
  expect(lookups.slice(2)).toEqual([`${ALICE} check 720`]);
});

it('a question that arrives while a lookup is under way waits for its fact', async () => {
  const gate = Promise.withResolvers<void>();
  const { lookups, ask } = load((lookup) => gate.promise.then(() => neverSwapped(lookup)));
  const asked = [ask([window(720)])];
  await settled();
  asked.push(ask([window(240)]), ask([window(2400)]));
  await settled();
  expect(lookups).toHaveLength(1);
  gate.resolve();
  expect(await Promise.all(asked)).toEqual([[FALSE], [FALSE], [FALSE]]);
  expect(lookups).toEqual([`${ALICE} check 720`, `${ALICE} check 2400`]);
});

describe('an end', () => {
  const failure: LookupFailure = { code: 'OPERATOR_UNAVAILABLE', reach: 'number' };
  it.each<[string, () => Promise<LookupOutcome>, unknown]>([
    ['a failure', async () => lookupFailed({ operation: 'retrieve-date' }, failure), { failure }],
    ['a defect', () => Promise.reject(new TypeError('a defect')), new TypeError('a defect')],
  ])('%s closes all questions about its number, and none about another', async (_, fail, end) => {
    const { ask } = load((lookup, number) =>
      number === ALICE ? fail() : Promise.resolve(neverSwapped(lookup)),
    );
    const asked = await Promise.all([ask([DATE, WINDOW]), ask([WINDOW], BOB)]);
    expect(asked).toEqual([[end, end], [FALSE]]);
  });
});

describe('a list', () => {
  it('is one plan, with the fields of its tick, and its fields then have values', async () => {
    const { executor, lookups, ask } = load(async (lookup) => neverSwapped(lookup));
    const month = window(720);
    const day = window(24);
    const planned = executor.answerAll([ALICE, BOB], [day, DATE]);
    const asked = ask([month]);
    await planned;
    expect(await asked).toEqual([FALSE]);
    // The date is older than both windows.
    expect(lookups).toEqual([`${ALICE} retrieve-date`, `${BOB} retrieve-date`]);
    const { latestSimChange } = changed(9000);
    for (const number of [ALICE, BOB]) {
      expect(answersOf(executor, number, [day, DATE])).toEqual([FALSE, { latestSimChange }]);
    }
    expect(executor.questions).toBe(5);
  });

  it('waits for all of its numbers, each of which ends by itself', async () => {
    const gate = Promise.withResolvers<void>();
    const places = new NumbersAtWork({ atWork: 10, held: 10 }, new TestClock());
    const route: LookupRoute = {
      async lookUp(lookup, { number }) {
        if (number === BOB) await gate.promise;
        return neverSwapped(lookup);
      },
      consent,
      close,
    };
    const operators = servedBy({ name: 'operator', offer: OFFER, route });
    const executor = new Executor(operators, requestAt(new TestClock()), places);
    const planned = executor.answerAll([ALICE, BOB], [WINDOW, { about: 'consent' }]);
    await settled();
    expect(places.load[0].numbers).toBe(1);
    expect(answersOf(executor, ALICE, [WINDOW])).toEqual([FALSE]);
    expect(executor.answer(BOB, WINDOW)).toBeInstanceOf(Promise);
    gate.resolve();
    await planned;
    expect(places.load[0].numbers).toBe(0);
    expect(answersOf(executor, BOB, [WINDOW])).toEqual([FALSE]);
  });
});

// As many as from an answer to the end of its run, and more.
it.each([0, 1, 2, 3, 4, 5, 6, 8, 12])(
  'a question that arrives %i microtasks after an answer is answered as well',
  async (microtasks) => {
    const first = Promise.withResolvers<void>();
    const { executor } = load(async (lookup) => {
      if (lookup.operation === 'check') await first.promise;
      return neverSwapped(lookup);
    });
    const asked = executor.answer(ALICE, WINDOW);
    first.resolve();
    for (let passed = 0; passed < microtasks; passed += 1) await Promise.resolve();
    await Promise.all([asked, executor.answer(ALICE, DATE)]);
    const { latestSimChange } = changed(9000);
    expect(answersOf(executor, ALICE, [WINDOW, DATE])).toEqual([FALSE, { latestSimChange }]);
  },
);

it.each([0, 1, 2, 3, 4, 5, 6, 8, 12])(
  'a question that arrives %i microtasks after its number was not served is no defect',
  async (microtasks) => {
    const first = Promise.withResolvers<Routing>();
    const operators = { of: () => undefined, find: () => first.promise };
    const executor = new Executor(operators, requestAt(new TestClock()));
    const asked = executor.answer(ALICE, WINDOW);
    await settled();
    first.resolve(NOT_SERVED);
    for (let passed = 0; passed < microtasks; passed += 1) await Promise.resolve();
    const failure = { kind: 'failure', failure: { code: 'NUMBER_NOT_SERVED', reach: 'number' } };
    expect(await Promise.all([asked, executor.answer(ALICE, DATE)])).toEqual([failure, failure]);
  },
);

it('a reply about another window than the requested one is not requested twice', async () => {
  const check = { operation: 'check', maxAgeHours: hours(48) } as const;
  const failure = { code: 'PERIOD_NOT_SUPPORTED', reach: 'operation' } as const;
  const date = { operation: 'retrieve-date', latestSimChange: null, sentAtMs: 0 } as const;
  const facts = [timed(date), timed({ ...check, swapped: false, sentAtMs: 0 })];
  const closed = { lookup: check, failure };
  const { lookups, ask } = load(async () => ({ kind: 'facts', facts, closed }));
  expect(await ask([...[12, 48, 49, 240].map(window), DATE])).toEqual([
    FALSE,
    FALSE,
    { failure },
    { failure },
    { latestSimChange: null },
  ]);
  expect(lookups).toHaveLength(1);
});

function keptFacts(recalled: Promise<readonly TimedFact[]>): KeptFacts {
  const recall = async () => ({ facts: await recalled, unrequested: [], recalledAtMs: 0 });
  const factCache = { recall, keep: () => Promise.resolve() };
  return new KeptFacts({ factCache, admission: OPEN_AUTHORIZER, offer: OFFER });
}

it.each([0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 20])(
  'a question that arrives %i microtasks after kept facts answered another is looked up',
  async (microtasks) => {
    const recalled = Promise.withResolvers<readonly TimedFact[]>();
    const kept = keptFacts(recalled.promise);
    const operators = { kept, of: () => undefined, find: () => Promise.resolve(NOT_SERVED) };
    const executor = new Executor(operators, requestAt(new TestClock()));
    const asked = executor.answer(ALICE, DATE);
    await settled();
    recalled.resolve([withheld()]);
    for (let passed = 0; passed < microtasks; passed += 1) await Promise.resolve();
    expect(await Promise.all([asked, executor.answer(ALICE, WINDOW)])).toMatchObject([
      { kind: 'date' },
      { kind: 'failure', failure: { code: 'NUMBER_NOT_SERVED' } },
    ]);
  },
);

it('a question that arrives while the operator is being looked up is answered by kept facts', async () => {
  const routing = Promise.withResolvers<Routing>();
  const kept = keptFacts(Promise.resolve([withheld()]));
  const operators = { kept, of: () => undefined, find: () => routing.promise };
  const executor = new Executor(operators, requestAt(new TestClock()));
  const asked = executor.answer(ALICE, WINDOW);
  await settled();
  const further = executor.answer(ALICE, DATE);
  await settled();
  routing.resolve(NOT_SERVED);
  await Promise.all([asked, further]);
  expect(answersOf(executor, ALICE, [WINDOW, DATE])).toMatchObject([
    { failure: { code: 'NUMBER_NOT_SERVED' } },
    { latestSimChange: null },
  ]);
});
