import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deduceSwapped } from '../../src/domain/deduction.ts';
import type { Lookup, Operation, Question } from '../../src/domain/question.ts';
import type { FailureReach, LookupFailure, LookupFailureCode } from '../../src/domain/errors.ts';
import type { Offer, Plan } from '../../src/lookups/planner.ts';
import { answerTo } from '../../src/lookups/planner.ts';
import { inForm } from '../support/forms.ts';
import { isRight, operate, play, swappedWithin, type Line, type Played } from './operatorOracle.ts';
import { DATE, OFFER, window } from './requests.ts';

const MARGIN_HOURS = OFFER.dateMarginHours;

const maxAgeHours = fc.oneof(
  fc.integer({ min: 1, max: 2400 }),
  fc.constantFrom(1, 24, 47, 48, 49, 72, 168, 240, 720, 2399, 2400),
);

const hoursAgo = fc.oneof(
  fc.double({ min: 0, max: 3000, noNaN: true }),
  fc.constantFrom(0, 24, 72, 240, 288, 720, 2400, 2448),
);

const line: fc.Arbitrary<Line> = fc
  .record({
    swappedHoursAgo: fc.option(hoursAgo, { nil: undefined, freq: 2 }),
    simLifeBeforeHours: fc.integer({ min: 0, max: 90_000 }),
    activatedHoursAgo: hoursAgo,
    countsActivation: fc.boolean(),
    withholdsDate: fc.boolean(),
    monitoredPeriodDays: fc.option(fc.integer({ min: 1, max: 120 }), { nil: undefined, freq: 2 }),
    dateErrorHours: fc.double({ min: -MARGIN_HOURS + 1, max: MARGIN_HOURS - 1, noNaN: true }),
    rangeHours: fc.constantFrom(2400, 2400, 2400, 168, 24),
  })
  .map(({ simLifeBeforeHours, ...drawn }) =>
    drawn.swappedHoursAgo === undefined
      ? drawn
      : { ...drawn, activatedHoursAgo: drawn.swappedHoursAgo + simLifeBeforeHours },
  );

const questions: fc.Arbitrary<Question[]> = fc
  .record({ windows: fc.array(maxAgeHours, { maxLength: 10 }), date: fc.boolean() })
  .map(({ windows, date }) => [...(date ? [DATE] : []), ...windows.map(window)]);

const operations = fc.constantFrom<readonly Operation[]>(
  ['retrieve-date', 'check'],
  ['retrieve-date', 'check'],
  ['check'],
  ['retrieve-date'],
);

const offer: fc.Arbitrary<Offer> = fc.record({
  operations: operations.map((some) => new Set(some)),
  maxAgeHours: fc.constantFrom(2400, 2400, 720, 168),
  dateMarginHours: fc.constant(MARGIN_HOURS),
  trustMonitoredPeriod: fc.boolean(),
});

/** Which of the lookups fail, in their order, and how. */
const failing: fc.Arbitrary<readonly (LookupFailure | undefined)[]> = fc.array(
  fc.option(
    fc.record({
      code: fc.constantFrom<LookupFailureCode>(
        'OPERATOR_UNAVAILABLE',
        'OPERATOR_TIMEOUT',
        'OPERATOR_REFUSED',
        'OPERATOR_INVALID_REPLY',
        'PERIOD_NOT_SUPPORTED',
        'OPERATION_NOT_OFFERED',
        'CONSENT_PENDING',
      ),
      reach: fc.constantFrom<FailureReach>('question', 'operation', 'number'),
    }),
    { nil: undefined, freq: 2 },
  ),
  { maxLength: 12 },
);

function run(
  asked: readonly Question[],
  truth: Line,
  offered: Offer,
  failures: readonly (LookupFailure | undefined)[] = [],
): Played {
  return play(asked, offered, (lookup, so) => {
    expect(isAnswered(lookup, so, offered), 'a lookup that facts already answer').toBe(false);
    return failures[so.lookups.length] ?? operate(truth, lookup);
  });
}

function isAnswered(lookup: Lookup, { facts }: Plan, offered: Offer): boolean {
  return lookup.operation === 'check'
    ? deduceSwapped(lookup.maxAgeHours, facts, offered) !== undefined
    : facts.some(({ operation }) => operation === 'retrieve-date');
}

function expectRightOrError(result: Played, truth: Line, offered: Offer): void {
  for (const question of result.questions) {
    const answer = answerTo(question, result, offered);
    expect(answer, 'a question left open').toBeDefined();
    if (answer === undefined || 'failure' in answer) continue;
    const value = 'swapped' in answer ? answer.swapped : answer.latestSimChange;
    expect(
      isRight(truth, question, value, offered),
      `${JSON.stringify(question)} answered ${JSON.stringify(value)}`,
    ).toBe(true);
  }
}

const RUNS = { numRuns: inForm({ short: 1000, long: 20_000 }) };

describe('the planner, against the truth of random lines', () => {
  it('answers the truth or an error, whatever lookups fail', () => {
    const anyFailing = fc.oneof(fc.constant([]), failing);
    fc.assert(
      fc.property(questions, line, offer, anyFailing, (asked, truth, offered, failures) => {
        expectRightOrError(run(asked, truth, offered, failures), truth, offered);
      }),
      RUNS,
    );
  });

  it('answers every question when nothing fails and the operator offers everything', () => {
    fc.assert(
      fc.property(questions, line, (asked, drawn) => {
        const result = run(asked, { ...drawn, rangeHours: 2400 }, OFFER);
        for (const question of asked) {
          expect(answerTo(question, result, OFFER)).not.toHaveProperty('failure');
        }
      }),
      RUNS,
    );
  });

  it('takes at most 1 + ⌈log2 k⌉ checks for k windows, and one lookup more for the date', () => {
    fc.assert(
      fc.property(questions, line, offer, (asked, drawn, offered) => {
        const truth = { ...drawn, rangeHours: 2400 };
        const { lookups } = run(asked, truth, offered);
        const hours = asked.flatMap((one) => (one.about === 'window' ? one.maxAgeHours : []));
        const windows = new Set(hours).size;
        const checks = lookups.filter(({ operation }) => operation === 'check').length;
        expect(checks).toBeLessThanOrEqual(windows === 0 ? 0 : 1 + Math.ceil(Math.log2(windows)));
        expect(lookups.length - checks).toBeLessThanOrEqual(1);
      }),
      RUNS,
    );
  });

  it('takes one lookup for a line that never swapped and was activated long ago', () => {
    fc.assert(
      fc.property(questions, offer, fc.boolean(), (asked, offered, countsActivation) => {
        fc.pre(asked.length > 0);
        const truth: Line = {
          activatedHoursAgo: 2400 + MARGIN_HOURS + 1,
          countsActivation,
          withholdsDate: false,
          dateErrorHours: 0,
          rangeHours: 2400,
        };
        expect(swappedWithin(truth, 2400)).toBe(false);
        expect(run(asked, truth, offered).lookups.length).toBeLessThanOrEqual(1);
      }),
      RUNS,
    );
  });
});
