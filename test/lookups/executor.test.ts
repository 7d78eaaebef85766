import { expect, it } from 'vitest';
import type { Lookup } from '../../src/domain/question.ts';
import { Executor } from '../../src/lookups/executor.ts';
import {
  lookupFailed,
  type LookupOutcome,
  type LookupRoute,
} from '../../src/lookups/lookupRoute.ts';
import { NOT_SERVED, type Routing } from '../../src/lookups/operators.ts';
import { ALICE, hours, timed } from '../values.ts';
import { settled, TestClock } from '../testClock.ts';
import { askAll, DATE, executorOn, OFFER, requestAt, window } from './requests.ts';

const WINDOW = window(240);

function neverSwapped(lookup: Lookup): LookupOutcome {
  return lookup.operation === 'check'
    ? { kind: 'facts', facts: [timed({ ...lookup, swapped: false, sentAtMs: 0 })] }
    : { kind: 'facts', facts: [timed({ ...lookup, latestSimChange: null, sentAtMs: 0 })] };
}

// As many as it takes from an answer to the end of its run, and more.
it.each([0, 1, 2, 3, 4, 5, 6, 8, 12])(
  'a question that comes %i microtasks after an answer has one as well',
  async (microtasks) => {
    const first = Promise.withResolvers<void>();
    const executor = executorTo(async (lookup) => {
      if (lookup.operation === 'check') await first.promise;
      return neverSwapped(lookup);
    });

    const asked = executor.ask(ALICE, WINDOW);
    first.resolve();
    for (let passed = 0; passed < microtasks; passed += 1) await Promise.resolve();
    await Promise.all([asked, executor.ask(ALICE, DATE)]);

    expect(executor.answerTo(ALICE, WINDOW)).toMatchObject({ kind: 'window', swapped: false });
    expect(executor.answerTo(ALICE, DATE)).toMatchObject({ kind: 'date', latestSimChange: null });
  },
);

it('a reply that speaks of a window of its own is not asked for twice', async () => {
  const asked: Lookup[] = [];
  const executor = executorTo(async (lookup) => {
    asked.push(lookup);
    const check = { operation: 'check', maxAgeHours: hours(48) } as const;
    const failure = { code: 'PERIOD_NOT_SUPPORTED', reach: 'operation' } as const;
    const date = { operation: 'retrieve-date', latestSimChange: null, sentAtMs: 0 } as const;
    const facts = [timed(date), timed({ ...check, swapped: false, sentAtMs: 0 })];
    return { kind: 'facts', facts, closed: { lookup: check, failure } };
  });
  const windows = [12, 48, 49, 240].map(window);

  await askAll(executor, ALICE, [...windows, DATE]);

  expect(windows.map((one) => executor.answerTo(ALICE, one))).toMatchObject([
    { swapped: false },
    { swapped: false },
    { failure: { code: 'PERIOD_NOT_SUPPORTED' } },
    { failure: { code: 'PERIOD_NOT_SUPPORTED' } },
  ]);
  expect(executor.answerTo(ALICE, DATE)).toMatchObject({ kind: 'date', latestSimChange: null });
  expect(asked).toHaveLength(1);
});

it('what is asked while nobody is found to ask is answered by what is kept', async () => {
  const routing = Promise.withResolvers<Routing>();
  const kept = { name: 'none', offer: OFFER, route: { lookUp: keptDate, consent, close } };
  const operators = { kept, of: () => () => routing.promise };
  const executor = new Executor(operators, requestAt(new TestClock()));

  const asked = executor.ask(ALICE, WINDOW);
  await settled();
  const further = executor.ask(ALICE, DATE);
  await settled();
  routing.resolve(NOT_SERVED);
  await Promise.all([asked, further]);

  expect(executor.answerTo(ALICE, WINDOW)).toMatchObject({
    failure: { code: 'NUMBER_NOT_SERVED' },
  });
  expect(executor.answerTo(ALICE, DATE)).toMatchObject({ kind: 'date', latestSimChange: null });
});

const keptDate: LookupRoute['lookUp'] = async (lookup) =>
  lookup.operation === 'check'
    ? lookupFailed(lookup, { code: 'NUMBER_NOT_SERVED', reach: 'operation' })
    : neverSwapped(lookup);

const consent = () => Promise.resolve({ kind: 'read', status: undefined } as const);
const close = () => Promise.resolve();

function executorTo(lookUp: LookupRoute['lookUp']) {
  return executorOn({ lookUp, consent, close }, requestAt(new TestClock()));
}
