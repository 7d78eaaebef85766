import { describe, expect, it } from 'vitest';
import type { FailedLookup, TimedFact } from '../../src/domain/fact.ts';
import type { Lookup, Operation, Question } from '../../src/domain/question.ts';
import type { LookupFailure } from '../../src/domain/errors.ts';
import {
  type Answer,
  type Offer,
  type Plan,
  answerTo,
  mayBeElsewhere,
  nextLookup,
  nextWindowAmong,
} from '../../src/lookups/planner.ts';
import { START_MS } from '../support/testClock.ts';
import { changed, checked, HOUR_MS, hours, timed, withheld } from '../support/values.ts';
import { play } from './operatorOracle.ts';
import { DATE, OFFER, window } from './requests.ts';

function offer(operations: readonly Operation[], rest: Partial<Offer> = {}): Offer {
  return { ...OFFER, operations: new Set(operations), ...rest };
}

const BOTH = offer(['retrieve-date', 'check']);
const CHECK_ALONE = offer(['check']);
const DATE_ALONE = offer(['retrieve-date']);

const FAILURES: Readonly<Record<string, LookupFailure>> = {
  'out of range': { code: 'PERIOD_NOT_SUPPORTED', reach: 'question' },
  invalid: { code: 'OPERATOR_INVALID_REPLY', reach: 'question' },
  refused: { code: 'OPERATOR_REFUSED', reach: 'operation' },
  unavailable: { code: 'OPERATOR_UNAVAILABLE', reach: 'number' },
};

/** By what the operator offers, with 48 hours of margin. A failing lookup has its failure after `=`. Dates are in hours ago. */
const EXAMPLES: readonly (readonly [offered: string, offer: Offer, table: string])[] = [
  [
    'both operations',
    BOTH,
    `
    what                                       | asked             | line           | lookups                                  | answers
    nothing takes no lookup                    |                   | activated 9000 |                                          |
    equal windows cost one                     | 240 240 240       | swapped 2      | check 240                                | true true true
    and so does the date                       | date date         | swapped 2      | date                                     | 2h 2h
    the date is first, and windows wait for it | 24 date 240 2400  | activated 9000 | date                                     | false 9000h false false
    windows do not ask for the date            | 24 240            | activated 9000 | check 240                                | false false
    a date is false for windows far after it   | date 24 240 720   | swapped 300    | date, check 720                          | 300h false false true
    and open for one within the margin         | date 120 2400     | swapped 100    | date, check 2400, check 120              | 100h true true
    the largest window, then halves downwards  | 1 24 240 720 2400 | swapped 0.5    | check 2400, check 240, check 24, check 1 | true true true true true
    and upwards                                | 1 24 240 720 2400 | swapped 1000   | check 2400, check 240, check 720         | false false false false true
    a failure closes its own question          | 24 240            | swapped 30     | check 240=invalid, check 24              | false OPERATOR_INVALID_REPLY
    a date that failed leaves the windows      | date 24           | swapped 2      | date=invalid, check 24                   | OPERATOR_INVALID_REPLY true
    or its operation                           | date 24 240       | activated 9000 | date=refused, check 240                  | OPERATOR_REFUSED false false
    which may be check; the date remains       | date 24 240       | swapped 2      | date, check 240=refused                  | 2h OPERATOR_REFUSED OPERATOR_REFUSED
    or all about the number                    | date 24           | swapped 2      | date=unavailable                         | OPERATOR_UNAVAILABLE OPERATOR_UNAVAILABLE
    but for what facts answer                  | date 24 400       | swapped 300    | date, check 400=unavailable              | 300h false OPERATOR_UNAVAILABLE
    a date does not stand in for a check       | date 240          | swapped 2      | date, check 240=invalid                  | 2h OPERATOR_INVALID_REPLY
    a smaller window that is true does         | 24 240            | swapped 2      | check 240=invalid, check 24              | true true
    the largest is next after such a failure   | 24 72 100 240     | activated 9000 | check 240=invalid, check 100             | false false false OPERATOR_INVALID_REPLY
    out of range closes the larger ones too    | 24 168 240 720 2400 | activated 9000 | check 2400=out of range, check 240=out of range, check 168 | false false PERIOD_NOT_SUPPORTED PERIOD_NOT_SUPPORTED PERIOD_NOT_SUPPORTED
    but for a smaller one that is true         | 24 2400           | swapped 2      | check 2400=out of range, check 24        | true true
    `,
  ],
  [
    'check alone',
    CHECK_ALONE,
    `
    the date costs no call                     | date              | swapped 2      |                                          | OPERATION_NOT_OFFERED
    and windows are checked beside it          | date 24           | swapped 2      | check 24                                 | OPERATION_NOT_OFFERED true
    `,
  ],
  [
    'retrieve-date alone',
    DATE_ALONE,
    `
    one lookup answers date and windows        | date 24 240 720   | swapped 300    | date                                     | 300h false false true
    an activation is a swap, the safe side     | 240               | activated 100  | date                                     | true
    a withheld date answers no window          | date 240          | withheld       | date                                     | null PERIOD_NOT_SUPPORTED
    a monitored period what it covers          | 192 193           | withheld 10    | date                                     | false PERIOD_NOT_SUPPORTED
    a date that fails closes the windows       | date 24           | activated 9000 | date=invalid                             | OPERATOR_INVALID_REPLY OPERATOR_INVALID_REPLY
    `,
  ],
  [
    'retrieve-date alone, by an operator whose check would stop at 720 hours',
    offer(['retrieve-date'], { maxAgeHours: 720 }),
    `
    that is not a limit of the date            | 2400              | activated 9000 | date                                     | false
    `,
  ],
  [
    'both operations, with check up to 720 hours',
    offer(['retrieve-date', 'check'], { maxAgeHours: 720 }),
    `
    a larger window is never sent              | 721               | activated 9000 |                                          | PERIOD_NOT_SUPPORTED
    the limit itself is                        | 720               | activated 9000 | check 720                                | false
    a smaller one may answer the larger        | 24 2400           | swapped 2      | check 24                                 | true true
    and so may the date                        | date 2400         | activated 9000 | date                                     | 9000h false
    `,
  ],
];

function examplesOf(table: string) {
  const lines = table.split('\n').filter((line) => line.includes('|'));
  const rows = lines.map((line) => line.split('|').map((cell) => cell.trim()));
  return rows.filter(([what]) => what !== 'what') as [string, string, string, string, string][];
}

describe.each(EXAMPLES)('an operator that offers %s', (_, offered, table) => {
  it.each(examplesOf(table))('%s: %s of %s', (_what, asked, line, lookups, answers) => {
    const planned = lookups === '' ? [] : lookups.split(', ').map((one) => one.split('='));
    const failures = new Map(planned.map(([lookup, failure = '']) => [lookup, FAILURES[failure]]));
    const questions = asked === '' ? [] : asked.split(' ').map(questionOf);
    const played = play(
      questions,
      offered,
      (lookup) => failures.get(nameOf(lookup)) ?? saidOf(line, lookup),
    );
    expect(played.lookups.map(nameOf)).toEqual(planned.map(([lookup]) => lookup));
    expect(questions.map((one) => tell(answerTo(one, played, offered))).join(' ')).toBe(answers);
  });
});

/** An operator's reply about a line that was swapped or activated some hours ago, or whose date it withholds. */
function saidOf(line: string, lookup: Lookup) {
  const [state, number] = line.split(' ');
  const amount = number === undefined ? undefined : Number(number);
  if (lookup.operation === 'check') {
    const swappedHoursAgo = state === 'swapped' ? Number(amount) : Infinity;
    return checked(lookup.maxAgeHours, swappedHoursAgo <= lookup.maxAgeHours);
  }
  return state === 'withheld' ? withheld(amount) : changed(Number(amount));
}

function nameOf(lookup: Lookup): string {
  return lookup.operation === 'check' ? `check ${lookup.maxAgeHours}` : 'date';
}

function questionOf(asked: string | number): Question {
  return asked === 'date' ? DATE : window(Number(asked));
}

function tell(answer: Answer | undefined): string {
  if (answer === undefined) return 'open';
  if ('failure' in answer) return answer.failure.code;
  if ('swapped' in answer) return String(answer.swapped);
  const { latestSimChange } = answer;
  return latestSimChange === null ? 'null' : `${(START_MS - latestSimChange.epochMs) / HOUR_MS}h`;
}

function planOf(
  asked: readonly (number | 'date')[],
  facts: readonly TimedFact[] = [],
  failures: readonly FailedLookup[] = [],
): Plan {
  return { questions: asked.map(questionOf), facts, failures };
}

function check(maxAgeHours: number): Lookup {
  return { operation: 'check', maxAgeHours: hours(maxAgeHours) };
}

/** The answer to the first question. */
function told(plan: Plan, offered = BOTH): string {
  return tell(answerTo(plan.questions[0] ?? DATE, plan, offered));
}

const UNAVAILABLE: LookupFailure = { code: 'OPERATOR_UNAVAILABLE', reach: 'number' };

it('a later fact replaces a failure that closed everything', () => {
  const failed: FailedLookup = { lookup: { operation: 'retrieve-date' }, failure: UNAVAILABLE };
  expect(told(planOf([24], [], [failed]))).toBe('OPERATOR_UNAVAILABLE');
  expect(told(planOf([24], [checked(240, false)], [failed]))).toBe('false');
});

it('a window that only the date can answer stays open while only a check has failed', () => {
  const failure: LookupFailure = { code: 'OPERATOR_REFUSED', reach: 'operation' };
  const plan = planOf([240], [], [{ lookup: check(240), failure }]);
  expect(told(plan, DATE_ALONE)).toBe('open');
  expect(nextLookup(plan, DATE_ALONE)).toEqual({ operation: 'retrieve-date' });
});

describe('facts of different times', () => {
  it.each<[string, readonly TimedFact[], string]>([
    ['the date that left last', [changed(3, 2), changed(900)], '1h'],
    ['null, where that left last', [withheld(undefined, 2), changed(900)], 'null'],
    ['a date, where a null left before it', [changed(900, 2), withheld()], '898h'],
  ])('lastSimSwap is %s', (_, facts, answer) => {
    expect(told(planOf(['date'], facts))).toBe(answer);
  });

  // A date of long ago, of a lookup that left last: the operator's data flap.
  it.each<[string, readonly TimedFact[], string]>([
    ['true, where a later date left before', [changed(1), changed(900, 2)], 'true'],
    ['true, where it came before', [changed(900), changed(1, 2)], 'true'],
    ['false, where a null came later', [changed(900), withheld(undefined, 2)], 'false'],
    ['no answer, after a null', [changed(1), withheld(undefined, 2)], 'PERIOD_NOT_SUPPORTED'],
  ])('where only the date is offered, it answers %s', (_, facts, answer) => {
    expect(told(planOf([240], facts), DATE_ALONE)).toBe(answer);
  });

  it('a window is open where every fact that answers it is outdated, until a later check', () => {
    const facts = [checked(240, false), changed(1, 1)];
    expect(nextLookup(planOf([240], facts), BOTH)).toEqual(check(240));
    expect(told(planOf([240], [...facts, checked(240, false, 2)]))).toBe('false');
  });

  it('a kept swap beside the facts answers nothing, and bars an outdated `false`', () => {
    const besides = [checked(480, true)];
    expect(told({ ...planOf([240], [changed(900)]), unrequested: besides })).toBe('open');
    expect(told({ ...planOf([2400]), unrequested: besides })).toBe('open');
    const now = checked(240, false, 1);
    expect(told({ ...planOf([240], [changed(900), now]), unrequested: besides })).toBe('false');
  });

  it('a reply with the date and the check closes the question of its lookup', () => {
    const reply = { leftAtMs: 0, repliedAtMs: 10, replyId: 'one' };
    const ofOneReply = (...facts: readonly TimedFact[]) =>
      facts.map((fact) => ({ ...fact, ...reply }));
    const plan = planOf([240, 'date'], ofOneReply(changed(1), checked(240, false)));
    expect(nextLookup(plan, BOTH)).toBeUndefined();
    expect(told(plan)).toBe('false');
    const beside = planOf([24], ofOneReply(changed(900), checked(48, true)));
    expect(nextLookup(beside, BOTH)).toEqual(check(24));
  });
});

describe('nextWindowAmong, where a check is bought and only its window is open', () => {
  const known = [checked(240, false)];
  it.each<[string, Plan[], number | undefined]>([
    ['the largest open window of all waiters', [planOf([24, 720]), planOf([240])], 720],
    [
      'the middle once one of them has a true',
      [planOf([24, 240, 720], [checked(2400, true)])],
      240,
    ],
    ['no window that a waiter has the answer to', [planOf([24, 240], known), planOf([1])], 1],
    ['nothing when nothing is open', [planOf([240], known)], undefined],
    ['nothing when only the date is open', [planOf(['date'])], undefined],
    ['nothing when no request waits', [], undefined],
  ])('takes %s', (_, plans, maxAgeHours) => {
    expect(nextWindowAmong(plans, BOTH)).toBe(maxAgeHours);
  });
});

describe('another operator is called', () => {
  const lookup: Lookup = { operation: 'retrieve-date' };
  const failure = { code: 'NUMBER_NOT_SERVED', reach: 'number', isUnknownNumber: true } as const;
  const unknown: FailedLookup = { lookup, failure };
  const other: FailedLookup = { lookup, failure: UNAVAILABLE };

  it.each([
    ['where the number is unknown, and nothing else was reported', [], [unknown], true],
    ['not before the first lookup', [], [], false],
    ['not after a doubt', [], [unknown, other], false],
    ['not beside a fact of the first', [timed(checked(24, false))], [unknown], false],
  ])('%s', (_, facts, failures, may) => {
    expect(mayBeElsewhere({ facts, failures })).toBe(may);
  });
});
