import { describe, expect, it } from 'vitest';
import { adviceOn } from '../../page/model/advice.ts';
import { reasonOf } from '../../page/model/reasons.ts';
import {
  outcomeOf,
  rankOf,
  refreshFailure,
  verdictOf,
  withAnswer,
} from '../../page/model/verdict.ts';
import { stretches, withImplied, type WindowAnswer } from '../../page/model/windows.ts';
import { answer, answered, AS_OF_MS, NO, NOT_ASKED, unknown, YES } from './rows.ts';

const HOUR_MS = 3_600_000;
const hoursAgo = (hours: number) => ({ kind: 'at', atMs: AS_OF_MS - hours * HOUR_MS }) as const;

const AWAY = unknown('OPERATOR_UNAVAILABLE');
const TOO_LONG = unknown('PERIOD_NOT_SUPPORTED', { maxAgeHours: 168 });
const PENDING = unknown('CONSENT_PENDING', { expiresAtMs: 5 });

const LETTERS: Readonly<Record<string, WindowAnswer>> = {
  Y: YES,
  N: NO,
  '-': NOT_ASKED,
  A: AWAY,
  L: TOO_LONG,
  P: PENDING,
};

/** From the smallest window. */
function inLetters(text: string): Parameters<typeof answer>[0] {
  const [day = NO, threeDays = NO, week = NO, month = NO] = Array.from(text, (one) => LETTERS[one]);
  return [day, threeDays, week, month];
}

describe('the verdict on windows of 24 h, 72 h, 7 and 30 days', () => {
  it.each([
    ['no in all', 'NNNN', { kind: 'clear' }],
    ['yes in all', 'YYYY', { kind: 'swapped', withinHours: 24 }],
    ['yes from 7 days on', 'NNYY', { kind: 'swapped', withinHours: 168 }],
    ['yes beside unknown ones', 'AAAY', { kind: 'swapped', withinHours: 720 }],
    ['a yes and a later no, which contradict', 'YNNN', { kind: 'swapped', withinHours: 24 }],
    [
      'unknown in all',
      'AAAA',
      { kind: 'unknown', reason: 'OPERATOR_UNAVAILABLE', clearHours: null },
    ],
    [
      'unknown in the longest',
      'NNNL',
      { kind: 'unknown', reason: 'PERIOD_NOT_SUPPORTED', clearHours: 168 },
    ],
    [
      'unknown in the shortest alone',
      'ANNN',
      { kind: 'unknown', reason: 'OPERATOR_UNAVAILABLE', clearHours: null },
    ],
    ['not asked beyond 7 days', 'NNN-', { kind: 'unknown', reason: 'NOT_ASKED', clearHours: 168 }],
    ['waiting for consent to the one that was asked', '---P', { kind: 'pending', expiresAtMs: 5 }],
    [
      'the one that was asked came to nothing',
      'N--A',
      { kind: 'unknown', reason: 'OPERATOR_UNAVAILABLE', clearHours: 24 },
    ],
    ['waiting for consent in all', 'PPPP', { kind: 'pending', expiresAtMs: 5 }],
  ] as const)('%s', (_, windows, expected) => {
    expect(verdictOf(answered(inLetters(windows)))).toEqual(expected);
  });

  it('is clear for nothing but four windows that are no', () => {
    const kinds = [YES, NO, AWAY, NOT_ASKED, PENDING];
    for (const a of kinds)
      for (const b of kinds)
        for (const c of kinds)
          for (const d of kinds) {
            const isClear = verdictOf(answered([a, b, c, d])).kind === 'clear';
            expect(isClear).toBe([a, b, c, d].every((one) => one === NO));
          }
  });
});

describe('a date beside checks', () => {
  it.each([
    ['in a window that is unswapped: the line is new', 'NNNN', 24, 'activated'],
    ['just within 30 days', 'NNNN', 719, 'activated'],
    ['beyond 30 days', 'NNNN', 721, 'clear'],
    ['of a swap', 'YYYY', 2, 'swapped'],
    ['of a swap behind a window without one', 'NNYY', 100, 'swapped'],
    ['in a window that is unswapped, beside unknown ones', 'NNAA', 20, 'activated'],
    ['in a window that is unknown', 'NAAA', 30, 'unknown'],
  ] as const)('%s', (_, windows, hours, kind) => {
    expect(verdictOf(answered(inLetters(windows), hoursAgo(hours))).kind).toBe(kind);
  });

  it('of a new line says so, and never that it stayed on its SIM', () => {
    const verdict = verdictOf(answered([NO, NO, NO, NO], hoursAgo(24)));
    const { title, says, advice } = adviceOn(verdict, AS_OF_MS);
    expect(title).toBe('New line: SIM activated 24 h ago');
    expect(`${says} ${advice}`).not.toMatch(/stayed|not a reason to distrust/);
    expect(outcomeOf(verdict)).toBe('activated');
  });
});

describe('a check that fails after one that did not', () => {
  const before = answer([NO, NO, YES, YES]);

  it.each(['OPERATOR_TIMEOUT', 'OPERATOR_UNAVAILABLE', 'RATE_LIMITED', 'A_LATER_REASON'])(
    'with %s keeps the verdict, and says why it is not refreshed',
    (reason) => {
      const away = unknown(reason);
      const state = withAnswer(before, answer([away, away, away, away]));
      expect(verdictOf(state)).toEqual({ kind: 'swapped', withinHours: 168 });
      expect(refreshFailure(state)).toBe(reason);
    },
  );

  it.each(['NUMBER_NOT_SERVED', 'CONSENT_DENIED', 'CONSENT_EXPIRED'])(
    'with %s, which is about the number, keeps nothing',
    (reason) => {
      const gone = unknown(reason);
      const state = withAnswer(before, answer([gone, gone, gone, gone]));
      expect(verdictOf(state)).toMatchObject({ kind: 'unknown', reason });
    },
  );

  it('in part is what it says', () => {
    const state = withAnswer(before, answer([NO, NO, NO, AWAY]));
    expect(verdictOf(state)).toMatchObject({ kind: 'unknown', clearHours: 168 });
  });
});

it('has words for a consent that is pending, and the code where it has none', () => {
  expect(reasonOf('CONSENT_PENDING').says).toBe('The owner has a prompt on their phone.');
  expect(reasonOf('A_LATER_REASON').says).toBe('No answer (code: A_LATER_REASON).');
  expect(reasonOf('toString').says).toBe('No answer (code: toString).');
});

it('ranks what is unknown and what is open between a change and none', () => {
  const order = [
    answered([YES, YES, YES, YES]),
    answered([NO, NO, NO, YES]),
    answered([NO, NO, NO, NO], hoursAgo(24)),
    { kind: 'failed', reason: 'UNAVAILABLE' },
    { kind: 'needsConsent' },
    { kind: 'waiting' },
    answered([NO, NO, NO, NO]),
  ] as const;
  const ranks = order.map((state) => rankOf(verdictOf(state)));
  expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
  expect(new Set(ranks).size).toBe(order.length);
});

it('says what to do about each outcome, and never calls an unknown one safe', () => {
  const states = [
    answered([YES, YES, YES, YES]),
    answered([NO, NO, NO, TOO_LONG]),
    { kind: 'failed', reason: 'A_REASON_THAT_A_LATER_SERVICE_HAS' },
    { kind: 'needsConsent' },
    { kind: 'waiting' },
  ] as const;
  for (const state of states) {
    const { title, says } = adviceOn(verdictOf(state), AS_OF_MS);
    expect(`${outcomeOf(verdictOf(state))} ${title} ${says}`).not.toMatch(
      /not a reason to distrust/,
    );
  }
  expect(adviceOn(verdictOf(states[2]), AS_OF_MS).title).toBe('Unknown: no answer');
});

describe('what follows from one question', () => {
  it.each([
    ['a no for 30 days answers all', '---N', 'NNNN'],
    ['a yes for 24 h answers all', 'Y---', 'YYYY'],
    ['a yes for 30 days answers no other', '---Y', '---Y'],
    ['an answer stays as it was given', 'A--N', 'ANNN'],
  ] as const)('%s', (_, asked, expected) => {
    expect(withImplied(answer(inLetters(asked)).windows)).toEqual(
      answer(inLetters(expected)).windows,
    );
  });
});

describe('the stretches of the timeline', () => {
  it.each([
    ['NNNN', 'clear clear clear clear'],
    ['NYYY', 'clear swap earlier earlier'],
    ['YYYY', 'swap earlier earlier earlier'],
    ['AYYY', 'notKnown notKnown earlier earlier'],
    ['NNNL', 'clear clear clear notKnown'],
  ] as const)('%#', (windows, expected) => {
    expect(
      stretches(answer(inLetters(windows)))
        .map(({ kind }) => kind)
        .join(' '),
    ).toBe(expected);
  });
  // By the moment of the answers, whatever the time is now: a line that is just in a window stays in it.
  it.each([
    [30, 'clear activation earlier earlier'],
    [23.999, 'activation earlier earlier earlier'],
    [719.999, 'clear clear clear activation'],
  ])('end at the activation of a new line, %d hours ago', (hours, expected) => {
    const newLine = answer([NO, NO, NO, NO], hoursAgo(hours));
    expect(
      stretches(newLine)
        .map(({ kind }) => kind)
        .join(' '),
    ).toBe(expected);
  });
});
