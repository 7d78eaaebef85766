import { expect, it } from 'vitest';
import type { Lookup, Question } from '../../src/domain/question.ts';
import { createCorrelator } from '../../src/http/correlator.ts';
import { Executor } from '../../src/lookups/executor.ts';
import type { LookupOutcome, LookupRoute } from '../../src/lookups/lookupRoute.ts';
import { line } from '../endToEnd/askedSimSwaps.ts';
import { callerNamed, hours, timed } from '../values.ts';
import { servedBy } from './servedBy.ts';

const OFFER = {
  operations: new Set(['retrieve-date', 'check'] as const),
  maxAgeHours: 2400,
  dateMarginHours: 48,
  trustMonitoredPeriod: true,
};

const NUMBER = line(1);
const WINDOW: Question = { asks: 'window', maxAgeHours: hours(240) };
const DATE: Question = { asks: 'date' };

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
    const route: LookupRoute = {
      lookUp: async (lookup) => {
        if (lookup.operation === 'check') await first.promise;
        return neverSwapped(lookup);
      },
      consent: () => Promise.resolve({ kind: 'read', status: undefined }),
      close: () => Promise.resolve(),
    };
    const executor = executorOf(route);

    const asked = executor.ask(NUMBER, [WINDOW]);
    first.resolve();
    for (let passed = 0; passed < microtasks; passed += 1) await Promise.resolve();
    await Promise.all([asked, executor.ask(NUMBER, [DATE])]);

    expect(executor.answerTo(NUMBER, WINDOW)).toMatchObject({ kind: 'window', swapped: false });
    expect(executor.answerTo(NUMBER, DATE)).toMatchObject({ kind: 'date', latestSimChange: null });
  },
);

it('a reply that speaks of a window of its own is not asked for twice', async () => {
  const asked: Lookup[] = [];
  const route: LookupRoute = {
    lookUp: async (lookup) => {
      asked.push(lookup);
      const says = {
        operation: 'check',
        maxAgeHours: hours(48),
        swapped: false,
        sentAtMs: 0,
      } as const;
      const date = { operation: 'retrieve-date', latestSimChange: null, sentAtMs: 0 } as const;
      const failure = { code: 'PERIOD_NOT_SUPPORTED', reach: 'operation' } as const;
      const closed = { lookup: { operation: 'check', maxAgeHours: hours(48) }, failure } as const;
      return { kind: 'facts', facts: [timed(date), timed(says)], closed };
    },
    consent: () => Promise.resolve({ kind: 'read', status: undefined }),
    close: () => Promise.resolve(),
  };
  const executor = executorOf(route);
  const windows = [12, 48, 49, 240].map((maxAgeHours) => windowOf(maxAgeHours));

  await executor.ask(NUMBER, [...windows, DATE]);

  expect(windows.map((window) => executor.answerTo(NUMBER, window))).toMatchObject([
    { swapped: false },
    { swapped: false },
    { failure: { code: 'PERIOD_NOT_SUPPORTED' } },
    { failure: { code: 'PERIOD_NOT_SUPPORTED' } },
  ]);
  expect(executor.answerTo(NUMBER, DATE)).toMatchObject({ kind: 'date', latestSimChange: null });
  expect(asked).toHaveLength(1);
});

const windowOf = (maxAgeHours: number): Question => ({
  asks: 'window',
  maxAgeHours: hours(maxAgeHours),
});

function executorOf(route: LookupRoute): Executor {
  return new Executor(servedBy({ name: 'operator', offer: OFFER, route }), {
    caller: callerNamed('caller'),
    purpose: 'fraud-prevention',
    correlator: createCorrelator(undefined),
    cameInAtMs: 0,
    signal: new AbortController().signal,
    deadlineMs: 60_000,
  });
}
