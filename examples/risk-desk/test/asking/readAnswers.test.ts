import type { GraphQLFormattedError } from 'graphql';
import { describe, expect, it } from 'vitest';
import type { CheckFragment, SimSwapsQuery } from '../../generated/graphql.ts';
import {
  NOTHING_ASKED,
  readConsents,
  readOneCheck,
  readSimSwaps,
} from '../../page/asking/readAnswers.ts';
import { verdictOf } from '../../page/model/verdict.ts';

const AS_OF = '2026-11-22T12:00:00Z';

function check(windowHours: number, change: Partial<CheckFragment> = {}): CheckFragment {
  return {
    result: 'NOT_SWAPPED',
    windowHours,
    reason: null,
    retryAfterSeconds: null,
    expiresAt: null,
    maxAgeHours: null,
    asOf: AS_OF,
    ...change,
  };
}

type Told = SimSwapsQuery['customersByPhone'][number]['phoneNumber'];

function told(change: Partial<Told> = {}): SimSwapsQuery {
  const phoneNumber: Told = {
    e164: '+447700900004',
    lastSimSwap: null,
    within24h: check(24),
    within72h: check(72),
    within7d: check(168),
    within30d: check(720),
    ...change,
  };
  return { customersByPhone: [{ customer: null, phoneNumber }] };
}

function error(code: string, path?: (string | number)[]): GraphQLFormattedError {
  return { message: '', extensions: { code }, ...(path === undefined ? {} : { path }) };
}

function verdict(data: SimSwapsQuery, errors: readonly GraphQLFormattedError[] = []) {
  const [first] = readSimSwaps(data, errors);
  if (first === undefined) throw new Error('Nothing was told.');
  return verdictOf({ kind: 'answered', answer: first.said });
}

it('four windows that are not swapped are clear, and only they', () => {
  expect(verdict(told())).toEqual({ kind: 'clear' });
});

describe('unknown is', () => {
  it.each([
    ['a check that is missing', { within30d: null }, [], 'NO_ANSWER'],
    ['a check of another window', { within30d: check(24) }, [], 'NO_ANSWER'],
    ['a check without its moment', { within30d: check(720, { asOf: null }) }, [], 'NO_ANSWER'],
    ['a moment that is none', { within30d: check(720, { asOf: 'today' }) }, [], 'NO_ANSWER'],
    [
      'a result that a later service has',
      { within30d: check(720, { result: 'MAYBE' as never }) },
      [],
      'NO_ANSWER',
    ],
    [
      'a reason that a later service has',
      { within30d: check(720, { result: 'UNKNOWN', reason: 'SOLAR_STORM' as never, asOf: null }) },
      [],
      'SOLAR_STORM',
    ],
    [
      'a field with an error of its own',
      { within30d: null },
      [error('FORBIDDEN', ['customersByPhone', 0, 'phoneNumber', 'within30d'])],
      'FORBIDDEN',
    ],
    [
      'a number with an error',
      { within24h: null },
      [error('BAD_USER_INPUT', ['customersByPhone', 0, 'phoneNumber'])],
      'BAD_USER_INPUT',
    ],
    [
      'a list that was refused as a whole',
      { within24h: null, within72h: null, within7d: null, within30d: null },
      [error('FORBIDDEN', ['customersByPhone', 'phoneNumber'])],
      'FORBIDDEN',
    ],
    ['an error without a path', { within24h: null }, [error('UNAVAILABLE')], 'UNAVAILABLE'],
    [
      'not the error of another number',
      { within24h: null },
      [error('FORBIDDEN', ['customersByPhone', 1, 'phoneNumber', 'within24h'])],
      'NO_ANSWER',
    ],
  ] as const)('%s', (_, change, errors, reason) => {
    expect(verdict(told(change), errors)).toMatchObject({ kind: 'unknown', reason });
  });
});

describe('the date', () => {
  it.each([
    ['is withheld', null, [], { kind: 'withheld' }],
    ['is told', AS_OF, [], { kind: 'at', atMs: Date.parse(AS_OF) }],
    ['is none', 'once', [], { kind: 'unknown', reason: 'NO_ANSWER' }],
    [
      'is unknown: null with an error is not withheld',
      null,
      [error('OPERATION_NOT_OFFERED', ['customersByPhone', 0, 'phoneNumber', 'lastSimSwap'])],
      { kind: 'unknown', reason: 'OPERATION_NOT_OFFERED' },
    ],
  ] as const)('%s', (_, lastSimSwap, errors, expected) => {
    const [first] = readSimSwaps(told({ lastSimSwap }), errors);
    expect(first?.said.lastChange).toEqual(expected);
  });
});

describe('consent', () => {
  it.each([
    ['NOT_NEEDED', { kind: 'notNeeded' }],
    ['NOT_ASKED', { kind: 'needed', retryAfterSeconds: null }],
    ['PENDING', { kind: 'needed', retryAfterSeconds: null }],
    ['ANSWERED', { kind: 'needed', retryAfterSeconds: null }],
    ['A_LATER_STATE', { kind: 'needed', retryAfterSeconds: null }],
  ])('%s', (state, expected) => {
    const simSwapConsent = { state: state as never, retryAfterSeconds: null };
    const phoneNumber = { e164: '+447700900004', simSwapConsent };
    const [first] = readConsents({ customersByPhone: [{ customer: null, phoneNumber }] }, []);
    expect(first?.said).toEqual(expected);
  });

  it('that is unreadable leaves a number unchecked', () => {
    const phoneNumber = { e164: '+447700900004', simSwapConsent: null };
    const [first] = readConsents({ customersByPhone: [{ customer: null, phoneNumber }] }, []);
    expect(first?.said).toEqual({ kind: 'unknown', reason: 'STATE_UNAVAILABLE' });
  });
});

it('one question answers what follows from it, and keeps what was known', () => {
  const data = {
    customersByPhone: [
      { customer: null, phoneNumber: { e164: '+447700900004', check: check(168) } },
    ],
  };
  const yes = { kind: 'swapped', asOfMs: 1 } as const;
  const answer = readOneCheck(data, [], 168, { ...NOTHING_ASKED, 720: yes })?.said;
  expect(answer?.windows[24].kind).toBe('notSwapped');
  expect(answer?.windows[720]).toEqual(yes);
});
