import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { LookupFailure } from '../../src/domain/errors.ts';
import type { TimedFact } from '../../src/domain/fact.ts';
import type { ConsentOperator, ConsentSnapshot } from '../../src/consents/consentLedger.ts';
import {
  type Consent,
  type ConsentEnd,
  type ConsentRecord,
} from '../../src/consents/consentRecord.ts';
import { consentViewOf } from '../../src/consents/consentView.ts';
import type { Waiter } from '../../src/consents/consentWaiters.ts';
import { mostSteps, nextStep, type Recall, type Step } from '../../src/consents/nextStep.ts';
import { inForm } from '../support/forms.ts';
import { consentOperator } from '../lookups/askedConsents.ts';
import { DATE, requestAt, window } from '../lookups/requests.ts';
import { ScriptedOperator } from '../lookups/scriptedOperator.ts';
import { START_MS, TestClock } from '../support/testClock.ts';
import { ALICE, hours } from '../support/values.ts';
import {
  closedFor,
  DENIED,
  expiredAt,
  failedFor,
  grantedFor,
  IDENTITY,
  NOW,
  pendingFor,
  redeemedFor,
  requestedFor,
  RULES,
} from './records.ts';

const CLOCK = new TestClock();
const NAMES = ['one', 'other'];
/** The moment at which time stands still, on our own clock, which the store's is ahead of. */
const MONOTONIC_MS = 500_000;
const TIME = { minAheadMs: NOW - MONOTONIC_MS - 1, maxAheadMs: NOW - MONOTONIC_MS + 1 };

const ONE = { operatorIndex: 0 as const, questions: [window(72)], joinedMs: 0, recalledMs: 0 };
const OF_ONE = { ...IDENTITY, asker: 'bank', operator: 'one' };
const ANSWERED = { ...OF_ONE, kind: 'answered', atMs: NOW + 1, untilMs: NOW + 5000 } as const;
const SWAPPED: TimedFact = {
  operation: 'check',
  maxAgeHours: hours(72),
  swapped: true,
  sentAtMs: START_MS,
  toldBy: 'one',
  leftAtMs: MONOTONIC_MS,
  repliedAtMs: MONOTONIC_MS,
  replyId: 'reply',
  isHeard: false,
};

function living(one: Consent, rest: Partial<Moment> = {}): Partial<Moment> {
  return { consent: { ...one, ...OF_ONE }, ...rest };
}

function ended(one: ConsentEnd, rest: Partial<Moment> = {}): Partial<Moment> {
  return { ends: [{ ...one, asker: 'bank', operator: 'one' }], ...rest };
}

/**
 * docs/flows.md, "The next step", in its order: the record of a consent, and all steps until one sleeps, writes or makes
 * an exchange, or no request waits. One request waits, where the row does not say otherwise.
 */
const STEPS: readonly (readonly [string, Partial<Moment>, string])[] = [
  ['no request', { requests: [] }, 'end'],
  ['the request leaves while the record is read', { leaves: true }, 'read prompt'],

  [
    'an answer that was kept since it looked',
    ended(ANSWERED, { facts: [SWAPPED] }),
    'read recall answer end',
  ],
  ['an answer to another question', ended(ANSWERED), 'read recall prompt'],
  ['an expiry that was not reported', ended(expiredAt(-1)), 'read recall answer'],
  [
    'one that was reported before it came',
    ended({ ...expiredAt(-1), isTold: true }),
    'read recall prompt',
  ],
  ['a lookup that failed', ended(failedFor(reaching('number', false), 1000)), 'read answer end'],
  [
    'at an operator that does not know the number',
    { ends: [{ ...failedFor(reaching('number', true), 1000), asker: 'bank', operator: 'other' }] },
    'read prompt',
  ],
  [
    "another caller's lookup that failed",
    {
      ends: [{ ...failedFor(reaching('number', false), 1000), asker: 'another', operator: 'one' }],
    },
    'read answer end',
  ],
  ['a refusal of the operator', { refusedForMs: [1000, 1000] }, 'read answer end'],
  ["another operator's refusal", { refusedForMs: [0, 1000] }, 'read prompt'],

  ['a consent that the store has lost', { isLost: true }, 'read recall restore'],

  ['no consent', {}, 'read prompt'],
  [
    'no consent, and kept facts were not looked at for a second',
    { requests: [{ ...ONE, recalledMs: -2000 }] },
    'read recall prompt',
  ],
  ['pending and due', living(pendingFor({})), 'read poll'],
  ['granted', living(grantedFor(1000)), 'read spend'],

  ['pending, to be polled later', living(pendingFor({ nextPollMs: 1000 })), 'read sleep'],
  ['requested, its lease lasts', living(requestedFor(1000, 2000)), 'read sleep'],
  ['polling, its lease lasts', living(pendingFor({ leaseMs: 1000 })), 'read sleep'],
  ['granted, another process is about to spend it', living(grantedFor(2000, 1000)), 'read sleep'],
  ['redeemed', living(redeemedFor(1000)), 'read sleep'],

  ['requested, its lease is over: in doubt', living(requestedFor(-1, 1000)), 'read fail end'],
  ['granted, for another process', living(grantedFor(1000), { holds: false }), 'read fail end'],
  [
    'granted, in a store that has lost writes',
    living(grantedFor(1000), { doubtMs: 1000 }),
    'read fail end',
  ],
  [
    'pending, its operator is gone',
    { consent: { ...pendingFor({}), asker: 'bank', operator: 'gone' } },
    'read fail end',
  ],
  ['closed', living(closedFor(DENIED, 1000)), 'read fail end'],
  [
    "another caller's",
    { consent: { ...pendingFor({}), asker: 'another', operator: 'one' } },
    'read fail end',
  ],
  ['none, in a store that has lost writes', { doubtMs: 1000 }, 'read fail end'],

  [
    'its request has left: a poll that is due',
    living(pendingFor({}), { hasLeft: true }),
    'read poll',
  ],
  ['its request has left: a token', living(grantedFor(1000), { hasLeft: true }), 'read spend'],
  [
    'its request has left: a poll that is not due',
    living(pendingFor({ nextPollMs: 1000 }), { hasLeft: true }),
    'read end',
  ],
  [
    'its request has left: another caller has one',
    { consent: { ...pendingFor({}), asker: 'another', operator: 'one' }, hasLeft: true },
    'read end',
  ],
];

it.each(STEPS)('%s', (_, at, expected) => {
  const steps = stepsOf({ ...NO_CONSENT, ...at });
  expect(steps.map(({ kind }) => kind).join(' ')).toBe(expected);
});

const NO_CONSENT: Moment = {
  consent: undefined,
  ends: [],
  doubtMs: undefined,
  isLost: false,
  version: 0,
  isMarked: true,
  refusedForMs: [0, 0],
  holds: true,
  facts: [],
  requests: [ONE],
  hasLeft: false,
  leaves: false,
};

const soon = fc.integer({ min: -3000, max: 3000 });
const operatorIndex = fc.constantFrom(0, 0, 1);

function reaching(reach: LookupFailure['reach'], isUnknownNumber: boolean): LookupFailure {
  const code = 'OPERATOR_UNAVAILABLE';
  return { code, reach, ...(isUnknownNumber ? { isUnknownNumber } : {}) };
}

const consent: fc.Arbitrary<Consent | undefined> = fc
  .tuple(
    fc.option(
      fc.oneof(
        fc.tuple(soon, soon).map(([lease, doubt]) => requestedFor(lease, doubt)),
        fc
          .tuple(soon, soon, soon)
          .map(([nextPollMs, redeemableMs, leaseMs]) =>
            pendingFor({ nextPollMs, redeemableMs, leaseMs }),
          ),
        fc.tuple(soon, soon).map(([ms, leaseMs]) => grantedFor(ms, leaseMs)),
        soon.map((ms) => grantedFor(ms + 3000)),
        soon.map(redeemedFor),
        soon.map((ms) => closedFor(DENIED, ms)),
      ),
      { nil: undefined, freq: 2 },
    ),
    fc.constantFrom('bank', 'bank', 'another'),
    fc.constantFrom('one', 'other', 'gone'),
  )
  .map(([one, asker, operator]) => one && { ...one, asker, operator });

const end: fc.Arbitrary<ConsentEnd> = fc
  .tuple(
    fc.oneof(
      soon.map((ms): ConsentEnd => {
        return { ...IDENTITY, kind: 'answered', atMs: NOW + ms, untilMs: NOW + 5000 };
      }),
      fc.tuple(soon, fc.boolean()).map(([ms, isTold]): ConsentEnd => {
        return { ...expiredAt(ms), isTold };
      }),
      fc
        .tuple(fc.constantFrom('number', 'operation', 'question'), fc.boolean(), soon)
        .map(([reach, isUnknown, ms]): ConsentEnd => failedFor(reaching(reach, isUnknown), ms)),
    ),
    fc.constantFrom('bank', 'bank', 'another'),
    fc.constantFrom('one', 'other'),
    fc.uuid(),
  )
  .map(([one, asker, operator, id]) => ({ ...one, asker, operator, id }));

const fact: fc.Arbitrary<TimedFact> = fc.tuple(soon, fc.boolean()).map(([ms, swapped]) => ({
  operation: 'check',
  maxAgeHours: hours(72),
  swapped,
  sentAtMs: START_MS + ms,
  toldBy: 'one',
  leftAtMs: MONOTONIC_MS + ms,
  repliedAtMs: MONOTONIC_MS + ms,
  replyId: `reply ${ms}`,
  isHeard: false,
}));

/** Everything that is true at one moment. */
const moment = fc.record({
  consent,
  ends: fc.oneof(fc.constant([]), fc.array(end, { maxLength: 4 })),
  doubtMs: fc.option(soon, { nil: undefined, freq: 4 }),
  isLost: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  version: fc.constantFrom(0, 1),
  /** Whether an expiry is marked as reported; another process may have been first. */
  isMarked: fc.boolean(),
  refusedForMs: fc.tuple(...[0, 1].map(() => fc.constantFrom(0, 0, 1000))),
  holds: fc.boolean(),
  facts: fc.array(fact, { maxLength: 2 }),
  requests: fc.array(
    fc.record({
      operatorIndex,
      questions: fc.subarray([DATE, ...[24, 72, 240].map(window)], { minLength: 1 }),
      joinedMs: soon,
      recalledMs: soon,
    }),
    { maxLength: 6 },
  ),
  /** Whether the first one has left, and its step is pending. */
  hasLeft: fc.boolean(),
  /** Whether the longest waiting one leaves during each reading. */
  leaves: fc.boolean(),
});

type Moment = typeof moment extends fc.Arbitrary<infer M> ? M : never;

/** The steps that are decided until one sleeps, writes or makes an exchange, or the flow ends; nobody joins. */
function stepsOf(at: Moment): readonly Step[] {
  const { refusedForMs, holds, facts } = at;
  const played = Object.assign(new ScriptedOperator(CLOCK), { holds: () => holds });
  const admission = { admit: () => admitted, delivered: () => undefined };
  const admitted = { kind: 'admitted', ended: () => undefined } as const;
  const [one, other] = NAMES.map((identity) =>
    consentOperator(identity, played, CLOCK, { admission, rules: RULES }),
  ) as [ConsentOperator, ConsentOperator];
  const operators = new Map([one, other].map((operator) => [operator.identity, operator]));
  let waiters = at.requests.map((request): Waiter => {
    const { questions, joinedMs, recalledMs } = request;
    return {
      operator: [one, other][request.operatorIndex] ?? one,
      session: { number: ALICE, request: requestAt(CLOCK), questions, facts: [], failures: [] },
      wanted: questions.includes(DATE)
        ? { operation: 'retrieve-date' }
        : { operation: 'check', maxAgeHours: hours(240) },
      joinedAtMs: MONOTONIC_MS + joinedMs,
      recalledAtMs: MONOTONIC_MS + recalledMs,
      settle: () => undefined,
      reject: () => undefined,
    };
  });
  let pendingCause: Waiter | undefined;
  if (at.hasLeft) [pendingCause, ...waiters] = waiters;
  const most = mostSteps(waiters.length);
  const record: ConsentRecord = { ...(at.consent && { consent: at.consent }), ends: at.ends };
  const { version } = at;
  const read = (operator: ConsentOperator): ConsentSnapshot => {
    const doubt = at.doubtMs === undefined ? {} : { doubtUntilMs: NOW + at.doubtMs };
    const stored = at.isLost ? undefined : record;
    const ms = refusedForMs[operator === one ? 0 : 1] ?? 0;
    return {
      ...consentViewOf({ record: stored, nowMs: NOW, ...doubt }, 'bank', RULES, operators),
      version,
      nowMs: NOW,
      time: TIME,
      refusedForMs: { 'retrieve-date': ms, check: ms },
      ...(at.isLost ? { lost: pendingFor({}) } : {}),
      ...doubt,
    };
  };
  const recalls = new Map<Waiter, Recall>();
  let page: ConsentSnapshot | undefined;
  let readFor: ConsentOperator | undefined;
  const steps: Step[] = [];
  for (;;) {
    const step = nextStep(
      page,
      { waiters, pendingCause },
      { readFor, recalls, operators },
      START_MS,
    );
    steps.push(step);
    if (steps.length > most) return steps;
    switch (step.kind) {
      case 'read':
        readFor = step.operator;
        page = read(step.operator);
        if (at.leaves) {
          pendingCause ??= waiters[0];
          waiters = waiters.slice(1);
        }
        break;
      case 'recall':
        for (const waiter of step.waiters) {
          recalls.set(waiter, { facts, unrequested: [], recalledAtMs: MONOTONIC_MS, version });
        }
        break;
      case 'answer': {
        page = undefined;
        const { answers } = step;
        waiters = waiters.filter((waiter) => !answers.has(waiter));
        const isExpiry = [...answers.values()].some(({ expiredId }) => expiredId !== undefined);
        // That they were reported is written, unless another process was first.
        if (at.isMarked && isExpiry) return steps;
        break;
      }
      case 'fail':
        page = undefined;
        waiters = [];
        pendingCause = undefined;
        break;
      default:
        return steps;
    }
  }
}

/** Whether it does nothing, prompts an owner who must not be, or answers with another operator's refusal. */
function isWrong(step: Step, { isLost, refusedForMs }: Moment): boolean {
  switch (step.kind) {
    case 'recall':
      return step.waiters.length === 0;
    case 'answer':
      return (
        step.answers.size === 0 ||
        [...step.answers].some(([{ operator }, { outcome }]) => {
          const isRefused =
            outcome.kind === 'failed' && outcome.failed.failure.code === 'OPERATOR_REFUSED';
          return isRefused && refusedForMs[NAMES.indexOf(operator.identity)] === 0;
        })
      );
    case 'prompt':
      return (
        isLost ||
        step.page.prompt.state !== 'free' ||
        refusedForMs[NAMES.indexOf(step.operator.identity)] !== 0
      );
    default:
      return false;
  }
}

const KINDS: readonly Step['kind'][] = [
  'answer',
  'end',
  'fail',
  'poll',
  'prompt',
  'read',
  'recall',
  'restore',
  'sleep',
  'spend',
];

it('a consent takes a bounded number of steps until it sleeps, writes, makes an exchange or ends, while nobody joins', () => {
  const seen: Record<string, number> = {};
  fc.assert(
    fc.property(moment, (at) => {
      const steps = stepsOf(at);
      const waiting = at.requests.length - (at.hasLeft && at.requests.length > 0 ? 1 : 0);
      expect(steps.length).toBeLessThanOrEqual(mostSteps(waiting));
      for (const step of steps) {
        seen[step.kind] = (seen[step.kind] ?? 0) + 1;
      }
      expect(steps.filter((step) => isWrong(step, at))).toEqual([]);
    }),
    { numRuns: inForm({ short: 3000, long: 100_000 }) },
  );
  expect(Object.keys(seen).toSorted()).toEqual(KINDS);
});
