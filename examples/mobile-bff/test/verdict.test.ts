import { CombinedGraphQLErrors, ServerError, type ApolloClient } from '@apollo/client';
import { describe, expect, it } from 'vitest';
// `sim-swap-subgraph/mocks` in a program of yours.
import { SIM_SWAP_MOCK_REASONS, simSwapFixture } from '../../../mocks/mocks.ts';
import { screen } from '../app/screen.ts';
import { judge } from '../server/verdict.ts';
import type { MySimSwapQuery } from '../generated/graphql.ts';

type Answer = ApolloClient.QueryResult<MySimSwapQuery>;

type Check = NonNullable<NonNullable<MySimSwapQuery['myPhoneNumber']>['simSwapCheck']>;

function answered(check: Partial<Check> | null, error?: Answer['error']): Answer {
  const simSwapCheck =
    check === null
      ? null
      : ({
          __typename: 'SimSwapCheck',
          result: 'UNKNOWN',
          reason: null,
          retryAfterSeconds: null,
          expiresAt: null,
          ...check,
        } as const);
  const myPhoneNumber = { __typename: 'PhoneNumber', e164: '+447700900001', simSwapCheck } as const;
  const data = { __typename: 'Query', myPhoneNumber } as const;
  return error === undefined ? { data } : { data, error };
}

function failure(code: string): CombinedGraphQLErrors {
  return new CombinedGraphQLErrors({ errors: [{ message: 'For people.', extensions: { code } }] });
}

function status(code: number): ServerError {
  return new ServerError('Status.', {
    response: new Response(null, { status: code }),
    bodyText: '',
  });
}

const EXPIRES_AT = '2026-01-15T12:00:00Z';

const withheld = (reason: string) => ({ kind: 'withheld', reason }) as const;

describe('judging an answer', () => {
  it.each([...SIM_SWAP_MOCK_REASONS, 'SWAPPED'] as const)('%s is never trusted', (mock) => {
    const { simSwapCheck } = simSwapFixture(mock);
    expect(judge(answered(simSwapCheck)).kind).not.toBe('trusted');
  });

  it('only what the operator vouches for is', () => {
    expect(judge(answered(simSwapFixture('NOT_SWAPPED').simSwapCheck)).kind).toBe('trusted');
  });

  it.each([
    [
      'NOT_SWAPPED',
      answered({ result: 'NOT_SWAPPED' }),
      { kind: 'trusted', e164: '+447700900001' },
    ],
    ['SWAPPED', answered({ result: 'SWAPPED' }), withheld('SWAPPED')],
    [
      'pending',
      answered({ reason: 'CONSENT_PENDING', retryAfterSeconds: 4, expiresAt: EXPIRES_AT }),
      { kind: 'pending', retryAfterSeconds: 4, expiresAt: EXPIRES_AT },
    ],
    [
      'pending without a time',
      answered({ reason: 'CONSENT_PENDING' }),
      { kind: 'pending', retryAfterSeconds: 1, expiresAt: null },
    ],
    ['denied', answered({ reason: 'CONSENT_DENIED' }), withheld('CONSENT_DENIED')],
    ['expired', answered({ reason: 'CONSENT_EXPIRED' }), withheld('CONSENT_EXPIRED')],
    ['another reason', answered({ reason: 'OPERATOR_TIMEOUT' }), withheld('OPERATOR_TIMEOUT')],
    [
      'a reason of a later version',
      answered({ reason: 'SOMETHING_NEW' as 'OPERATOR_TIMEOUT' }),
      withheld('SOMETHING_NEW'),
    ],
    [
      'a quota that is used up',
      answered({ reason: 'RATE_LIMITED', retryAfterSeconds: 60 }),
      withheld('RATE_LIMITED'),
    ],
    ['no reason', answered({}), withheld('NO_ANSWER')],
    [
      'a result of a later version',
      answered({ result: 'SOMETHING_NEW' as 'UNKNOWN' }),
      withheld('NO_ANSWER'),
    ],
    ['no check, and an error', answered(null, failure('FORBIDDEN')), withheld('FORBIDDEN')],
    ['no check, and no error', answered(null), withheld('NO_ANSWER')],
    ['no number', { data: { __typename: 'Query', myPhoneNumber: null } }, withheld('NO_ANSWER')],
    ['no data', { data: undefined }, withheld('NO_ANSWER')],
    ['a server that is down', { data: undefined, error: status(503) }, withheld('NO_ANSWER')],
    [
      'a token that is not taken',
      { data: undefined, error: failure('UNAUTHENTICATED') },
      { kind: 'signedOut' },
    ],
    [
      'a token that a proxy refuses',
      { data: undefined, error: status(401) },
      { kind: 'signedOut' },
    ],
    [
      'NOT_SWAPPED beside an error',
      answered({ result: 'NOT_SWAPPED' }, failure('OPERATOR_TIMEOUT')),
      withheld('OPERATOR_TIMEOUT'),
    ],
  ] as const)('%s', (_, answer, verdict) => {
    expect(judge(answer)).toEqual(verdict);
  });
});

it('says that an SMS was sent in no state but that', () => {
  const others = [
    { kind: 'pending', retryAfterSeconds: 1, expiresAt: null, offersAnotherWay: true },
    { kind: 'anotherWay' },
    { kind: 'tooManyCodes', retryAfterSeconds: 60 },
    { kind: 'signedOut' },
  ] as const;
  for (const state of others) expect(screen(state)).not.toMatch(/sent you a code/);
  expect(screen({ kind: 'sent', ending: '001' })).toMatch(/sent you a code/);
});

it('says when there may be another code, in minutes that are over by then', () => {
  expect(screen({ kind: 'tooManyCodes', retryAfterSeconds: 1 })).toMatch('Try again in a minute,');
  expect(screen({ kind: 'tooManyCodes', retryAfterSeconds: 61 })).toMatch(
    'Try again in 2 minutes,',
  );
});

it('tells until when it waits, where that is known', () => {
  const pending = { kind: 'pending', retryAfterSeconds: 1, offersAnotherWay: false } as const;
  expect(screen({ ...pending, expiresAt: EXPIRES_AT })).toMatch(/agree there by \d\d:\d\d,/);
  expect(screen({ ...pending, expiresAt: null })).toMatch(/agree there,/);
});
