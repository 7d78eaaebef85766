import { describe, expect, it } from 'vitest';
import type { FailedLookup, Fact, TimedFact } from '../../src/domain/fact.ts';
import type { Lookup, Operation, Question } from '../../src/domain/question.ts';
import type { FailureReach, LookupFailure, LookupFailureCode } from '../../src/domain/errors.ts';
import {
  type Answer,
  type Offer,
  type Plan,
  answerTo,
  mayBeElsewhere,
  nextLookup,
  nextWindowAmong,
} from '../../src/lookups/planner.ts';
import { changed, checked, hours, timed, withheld } from '../values.ts';
import { play } from './operatorOracle.ts';
import { DATE, OFFER, window } from './requests.ts';

/** `date`, or a window in hours. */
type Asked = 'date' | number;

/** An answer in short: a value, a date as hours ago, or a code. */
type Told = boolean | string | null;

type Operator = (lookup: Lookup) => Fact | LookupFailure;

/** What is asked, of which operator; which lookups that takes, as `date` and `check 240`; the answers, as asked. */
type Example = readonly [
  what: string,
  asked: readonly Asked[],
  operator: Operator,
  lookups: readonly string[],
  answers: readonly Told[],
];

function offer(operations: readonly Operation[], rest: Partial<Offer> = {}): Offer {
  return { ...OFFER, operations: new Set(operations), ...rest };
}

const BOTH = offer(['retrieve-date', 'check']);
const CHECK_ALONE = offer(['check']);
const DATE_ALONE = offer(['retrieve-date']);

/** The operator of a line whose SIM was swapped so many hours ago. */
function swapped(hoursAgo: number, date: Fact = changed(hoursAgo)): Operator {
  return (lookup) =>
    lookup.operation === 'check'
      ? checked(lookup.maxAgeHours, hoursAgo <= lookup.maxAgeHours)
      : date;
}

/** The operator of a line that never swapped, activated so many hours ago. */
function activated(hoursAgo: number, date: Fact = changed(hoursAgo)): Operator {
  return swapped(Infinity, date);
}

/** An operator some of whose lookups fail, each named as in `lookups`. */
function failing(failures: Readonly<Record<string, LookupFailure>>, rest: Operator): Operator {
  return (lookup) => failures[nameOf(lookup)] ?? rest(lookup);
}

function failure(code: LookupFailureCode, reach: FailureReach): LookupFailure {
  return { code, reach };
}

const OUT_OF_RANGE = failure('PERIOD_NOT_SUPPORTED', 'question');
const INVALID = failure('OPERATOR_INVALID_REPLY', 'question');
const FORBIDDEN_OPERATION = failure('OPERATOR_REFUSED', 'operation');
const UNAVAILABLE = failure('OPERATOR_UNAVAILABLE', 'number');

function nameOf(lookup: Lookup): string {
  return lookup.operation === 'check' ? `check ${lookup.maxAgeHours}` : 'date';
}

function question(asked: Asked): Question {
  return asked === 'date' ? DATE : window(asked);
}

function tell(answer: Answer | undefined): Told | undefined {
  if (answer === undefined) return undefined;
  if ('failure' in answer) return answer.failure.code;
  return 'swapped' in answer ? answer.swapped : (answer.latestSimChange?.text ?? null);
}

function examples(offered: Offer, table: readonly Example[]): void {
  it.each(table)('%s', (...example) => {
    const [, asked, operator, lookups, answers] = example;
    const played = play(asked.map(question), offered, operator);
    expect(played.lookups.map(nameOf)).toEqual(lookups);
    expect(played.questions.map((one) => tell(answerTo(one, played, offered)))).toEqual(answers);
  });
}

const dateText = (hoursAgo: number): string => changed(hoursAgo).latestSimChange?.text ?? '';

describe('equal questions cost one lookup', () => {
  examples(BOTH, [
    ['no questions, no lookups', [], activated(9_000), [], []],
    ['the same window three times', [240, 240, 240], swapped(2), ['check 240'], [true, true, true]],
    ['the date twice', ['date', 'date'], swapped(2), ['date'], [dateText(2), dateText(2)]],
  ]);
});

describe('the date comes first, and windows wait for it', () => {
  examples(BOTH, [
    [
      'a date of long ago answers every window',
      [24, 'date', 240, 2400],
      activated(9_000),
      ['date'],
      [false, dateText(9_000), false, false],
    ],
    [
      'windows alone do not ask for the date',
      [24, 240],
      activated(9_000),
      ['check 240'],
      [false, false],
    ],
  ]);
});

describe('what a date answers, with 48 hours of margin', () => {
  examples(BOTH, [
    [
      'only windows that end well after it are false; the largest other one is checked',
      ['date', 24, 240, 720],
      swapped(300),
      ['date', 'check 720'],
      [dateText(300), false, false, true],
    ],
    [
      'a window that holds the swap by less than the margin is checked',
      ['date', 120, 2400],
      swapped(100),
      ['date', 'check 2400', 'check 120'],
      [dateText(100), true, true],
    ],
  ]);
});

describe('the largest window first, then halves', () => {
  examples(BOTH, [
    [
      'true for the largest: halve what is left, downwards',
      [1, 24, 240, 720, 2400],
      swapped(0.5),
      ['check 2400', 'check 240', 'check 24', 'check 1'],
      [true, true, true, true, true],
    ],
    [
      'true for the largest: halve what is left, upwards',
      [1, 24, 240, 720, 2400],
      swapped(1_000),
      ['check 2400', 'check 240', 'check 720'],
      [false, false, false, false, true],
    ],
  ]);
});

describe('only one operation', () => {
  describe('check', () => {
    examples(CHECK_ALONE, [
      [
        'the date is not offered, and costs no call',
        ['date'],
        swapped(2),
        [],
        ['OPERATION_NOT_OFFERED'],
      ],
      [
        'windows go on beside it',
        ['date', 24],
        swapped(2),
        ['check 24'],
        ['OPERATION_NOT_OFFERED', true],
      ],
    ]);
  });
  describe('retrieve-date', () => {
    examples(DATE_ALONE, [
      [
        'one lookup answers date and windows: false where it is proven, else true',
        ['date', 24, 240, 720],
        swapped(300),
        ['date'],
        [dateText(300), false, false, true],
      ],
      ['an activation reads as a swap, the safe side', [240], activated(100), ['date'], [true]],
      [
        'a withheld date cannot answer a window',
        ['date', 240],
        activated(9_000, withheld()),
        ['date'],
        [null, 'PERIOD_NOT_SUPPORTED'],
      ],
      [
        'a monitored period answers what it covers',
        [192, 193],
        activated(9_000, withheld(10)),
        ['date'],
        [false, 'PERIOD_NOT_SUPPORTED'],
      ],
      [
        'a date that fails answers the windows that wait for it',
        ['date', 24, 240],
        failing({ date: INVALID }, activated(9_000)),
        ['date'],
        ['OPERATOR_INVALID_REPLY', 'OPERATOR_INVALID_REPLY', 'OPERATOR_INVALID_REPLY'],
      ],
    ]);
    describe('by an operator whose check would stop at 720 hours', () => {
      examples(offer(['retrieve-date'], { maxAgeHours: 720 }), [
        ['the limit of check is none of the date', [2400], activated(9_000), ['date'], [false]],
      ]);
    });
  });
});

describe('how far a failure speaks', () => {
  examples(BOTH, [
    [
      'for its own question: the other windows are asked',
      [24, 240],
      failing({ 'check 240': INVALID }, swapped(30)),
      ['check 240', 'check 24'],
      [false, 'OPERATOR_INVALID_REPLY'],
    ],
    [
      'a failed date leaves the windows to check',
      ['date', 24],
      failing({ date: INVALID }, swapped(2)),
      ['date', 'check 24'],
      ['OPERATOR_INVALID_REPLY', true],
    ],
    [
      'for retrieve-date as an operation: check goes on',
      ['date', 24, 240],
      failing({ date: FORBIDDEN_OPERATION }, activated(9_000)),
      ['date', 'check 240'],
      ['OPERATOR_REFUSED', false, false],
    ],
    [
      'for check as an operation: no window is asked any more, the date stands',
      ['date', 24, 240],
      failing({ 'check 240': FORBIDDEN_OPERATION }, swapped(2)),
      ['date', 'check 240'],
      [dateText(2), 'OPERATOR_REFUSED', 'OPERATOR_REFUSED'],
    ],
    [
      'for the number: everything open is answered without a further call',
      ['date', 24, 240],
      failing({ date: UNAVAILABLE }, swapped(2)),
      ['date'],
      ['OPERATOR_UNAVAILABLE', 'OPERATOR_UNAVAILABLE', 'OPERATOR_UNAVAILABLE'],
    ],
    [
      'for the number: what the facts answer stays answered',
      ['date', 24, 400],
      failing({ 'check 400': UNAVAILABLE }, swapped(300)),
      ['date', 'check 400'],
      [dateText(300), false, 'OPERATOR_UNAVAILABLE'],
    ],
    [
      'a check that failed is not replaced by the date, which would only guess',
      ['date', 240],
      failing({ 'check 240': INVALID }, swapped(2)),
      ['date', 'check 240'],
      [dateText(2), 'OPERATOR_INVALID_REPLY'],
    ],
    [
      'provisional: a smaller window that says true answers the one that failed',
      [24, 240],
      failing({ 'check 240': INVALID }, swapped(2)),
      ['check 240', 'check 24'],
      [true, true],
    ],
  ]);

  it('is provisional: a later fact takes the place of a failure that closed everything', () => {
    const failed: FailedLookup = { lookup: { operation: 'retrieve-date' }, failure: UNAVAILABLE };
    const failedPlan: Plan = { questions: [question(24)], facts: [], failures: [failed] };
    expect(tell(answerTo(question(24), failedPlan, BOTH))).toBe('OPERATOR_UNAVAILABLE');
    const later: Plan = { ...failedPlan, facts: [checked(240, false)] };
    expect(tell(answerTo(question(24), later, BOTH))).toBe(false);
  });
});

describe('windows that are too large', () => {
  examples(BOTH, [
    [
      'OUT_OF_RANGE answers its window and the larger ones; the rest is halved',
      [24, 168, 240, 720, 2400],
      failing(
        { 'check 2400': OUT_OF_RANGE, 'check 720': OUT_OF_RANGE, 'check 240': OUT_OF_RANGE },
        activated(9_000),
      ),
      ['check 2400', 'check 240', 'check 168'],
      [false, false, 'PERIOD_NOT_SUPPORTED', 'PERIOD_NOT_SUPPORTED', 'PERIOD_NOT_SUPPORTED'],
    ],
    [
      'a smaller window that says true answers the one out of range',
      [24, 2400],
      failing({ 'check 2400': OUT_OF_RANGE }, swapped(2)),
      ['check 2400', 'check 24'],
      [true, true],
    ],
  ]);
  describe('for an operator whose check takes 720 hours at most', () => {
    examples(offer(['retrieve-date', 'check'], { maxAgeHours: 720 }), [
      ['a larger one is never sent', [721], activated(9_000), [], ['PERIOD_NOT_SUPPORTED']],
      ['the limit itself is sent', [720], activated(9_000), ['check 720'], [false]],
      [
        'a larger one is answered by what a smaller one says',
        [24, 2400],
        swapped(2),
        ['check 24'],
        [true, true],
      ],
      [
        'a larger one is answered by the date',
        ['date', 2400],
        activated(9_000),
        ['date'],
        [dateText(9_000), false],
      ],
    ]);
  });
});

function planOf(asked: readonly Asked[], facts: readonly TimedFact[] = []): Plan {
  return { questions: asked.map(question), facts, failures: [] };
}

it('leaves a window open that only the date can answer, while nothing but a check has failed', () => {
  const lookup: Lookup = { operation: 'check', maxAgeHours: hours(240) };
  const plan = { ...planOf([240]), failures: [{ lookup, failure: FORBIDDEN_OPERATION }] };
  expect(answerTo(question(240), plan, DATE_ALONE)).toBeUndefined();
  expect(nextLookup(plan, DATE_ALONE)).toEqual({ operation: 'retrieve-date' });
});

describe('facts of different times', () => {
  it.each<[string, readonly TimedFact[], Told]>([
    ['the date that left last', [changed(1, 2), changed(900)], dateAt(1, 2)],
    ['null, where that left last', [withheld(undefined, 2), changed(900)], null],
    ['a date, where a null left before it', [changed(900, 2), withheld()], dateAt(900, 2)],
  ])('lastSimSwap tells %s', (_, facts, told) => {
    expect(tell(answerTo(question('date'), planOf(['date'], facts), BOTH))).toBe(told);
  });

  // A date of long ago, of a lookup that left last: the operator's data flap.
  it.each<[string, readonly TimedFact[], Told]>([
    [
      'true, where a later date is told by a lookup that left before',
      [changed(1), changed(900, 2)],
      true,
    ],
    ['true, where it was told before', [changed(900), changed(1, 2)], true],
    ['false, where a null has been told since', [changed(900), withheld(undefined, 2)], false],
    [
      'no answer, where null was told last',
      [changed(1), withheld(undefined, 2)],
      'PERIOD_NOT_SUPPORTED',
    ],
  ])('the date alone answers %s', (_, facts, told) => {
    expect(tell(answerTo(question(240), planOf([240], facts), DATE_ALONE))).toBe(told);
  });

  it('a window is open where all that answers it is outdated, and a later check answers it', () => {
    const facts = [checked(240, false), changed(1, 1)];
    expect(nextLookup(planOf([240], facts), BOTH)).toEqual({
      operation: 'check',
      maxAgeHours: 240,
    });
    const plan = planOf([240], [...facts, checked(240, false, 2)]);
    expect(tell(answerTo(question(240), plan, BOTH))).toBe(false);
  });

  it('a kept swap beside the facts answers nothing, and lets no outdated `false` pass', () => {
    const plan = { ...planOf([240], [changed(900)]), besides: [checked(480, true)] };
    expect(answerTo(question(240), plan, BOTH)).toBeUndefined();
    expect(answerTo(question(2400), { ...plan, facts: [] }, BOTH)).toBeUndefined();
    const checkedNow = { ...plan, facts: [...plan.facts, checked(240, false, 1)] };
    expect(tell(answerTo(question(240), checkedNow, BOTH))).toBe(false);
  });

  it('a reply that brings the date and the check closes what it was asked for', () => {
    const reply = { leftAtMs: 0, repliedAtMs: 10, replyId: 'one' };
    const both = [
      { ...changed(1), ...reply },
      { ...checked(240, false), ...reply },
    ];
    const plan = planOf(['date', 240], both);
    expect(nextLookup(plan, BOTH)).toBeUndefined();
    expect(tell(answerTo(question(240), plan, BOTH))).toBe(false);
    const beside = planOf(
      [24],
      [
        { ...changed(900), ...reply },
        { ...checked(48, true), ...reply },
      ],
    );
    expect(nextLookup(beside, BOTH)).toEqual({ operation: 'check', maxAgeHours: 24 });
  });
});

function dateAt(hoursAgo: number, atHour: number): string {
  return changed(hoursAgo, atHour).latestSimChange?.text ?? '';
}

describe('nextWindowAmong, where a check is bought and only its window is free', () => {
  it.each<[string, Plan[], number | undefined]>([
    ['the largest open window of all who wait', [planOf([24, 720]), planOf([240])], 720],
    ['halves once one of them knows a true', [planOf([24, 240, 720], [checked(2400, true)])], 240],
    [
      'leaves out what a waiter has the answer to',
      [planOf([24, 240], [checked(240, false)]), planOf([1])],
      1,
    ],
    ['nothing when nothing is open', [planOf([240], [checked(240, false)])], undefined],
    ['nothing when only the date is open', [planOf(['date'])], undefined],
    ['nothing when no request waits', [], undefined],
  ])('takes %s', (_, plans, maxAgeHours) => {
    expect(nextWindowAmong(plans, BOTH)).toBe(maxAgeHours);
  });
});

it('goes on with the largest open window where another one failed for a reason of its own', () => {
  const failed = {
    lookup: { operation: 'check', maxAgeHours: hours(240) },
    failure: INVALID,
  } as const;
  const plan = { ...planOf([24, 72, 100, 240]), failures: [failed] };
  expect(nextLookup(plan, CHECK_ALONE)).toEqual({ operation: 'check', maxAgeHours: 100 });
});

describe('another operator may be asked', () => {
  const unknown: FailedLookup = {
    lookup: { operation: 'retrieve-date' },
    failure: { code: 'NUMBER_NOT_SERVED', reach: 'number', isUnknownNumber: true },
  };
  const other: FailedLookup = { ...unknown, failure: UNAVAILABLE };
  const fact = timed(checked(24, false));

  it.each([
    ['where the number is unknown, and nothing else was said', [], [unknown], true],
    ['not where nothing was asked yet', [], [], false],
    ['not after a doubt', [], [unknown, other], false],
    ['not beside anything that it does know', [fact], [unknown], false],
  ])('%s', (_, facts, failures, may) => {
    expect(mayBeElsewhere({ facts, failures })).toBe(may);
  });
});
