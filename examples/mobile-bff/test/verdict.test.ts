import { CombinedGraphQLErrors, ServerError, type ApolloClient } from '@apollo/client';
import { describe, expect, it } from 'vitest';
import { screen } from '../app/screen.ts';
import { judge } from '../app/verdict.ts';
import type { MySimSwapQuery } from '../generated/graphql.ts';

type Answer = ApolloClient.QueryResult<MySimSwapQuery>;

type Consent = NonNullable<NonNullable<MySimSwapQuery['myPhoneNumber']>['simSwapConsent']>;

const NO_TIMES: Consent = {
  __typename: 'SimSwapConsent',
  retryAfterSeconds: null,
  expiresAt: null,
};

function answered(
  simSwappedWithin: boolean | null,
  error?: Answer['error'],
  simSwapConsent: Consent | null = NO_TIMES,
): Answer {
  const e164 = '+447700900001';
  const data = {
    __typename: 'Query',
    myPhoneNumber: { __typename: 'PhoneNumber', e164, simSwappedWithin, simSwapConsent },
  } as const;
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

describe('judging an answer', () => {
  it.each([
    ['false', answered(false), { kind: 'trusted', e164: '+447700900001' }],
    ['true', answered(true), { kind: 'swapped' }],
    [
      'pending',
      answered(null, failure('CONSENT_PENDING'), {
        __typename: 'SimSwapConsent',
        retryAfterSeconds: 4,
        expiresAt: EXPIRES_AT,
      }),
      { kind: 'pending', retryAfterSeconds: 4, expiresAt: EXPIRES_AT },
    ],
    [
      'pending without a time',
      answered(null, failure('CONSENT_PENDING')),
      { kind: 'pending', retryAfterSeconds: 1, expiresAt: null },
    ],
    [
      'pending without a word on the consent',
      answered(null, failure('CONSENT_PENDING'), null),
      { kind: 'pending', retryAfterSeconds: 1, expiresAt: null },
    ],
    ['denied', answered(null, failure('CONSENT_DENIED')), { kind: 'declined' }],
    ['expired', answered(null, failure('CONSENT_EXPIRED')), { kind: 'unanswered' }],
    [
      'another code',
      answered(null, failure('OPERATOR_TIMEOUT')),
      { kind: 'unknown', code: 'OPERATOR_TIMEOUT' },
    ],
    ['null without an error', answered(null), { kind: 'unknown', code: 'NO_ANSWER' }],
    [
      'no number',
      { data: { __typename: 'Query', myPhoneNumber: null } },
      { kind: 'unknown', code: 'NO_ANSWER' },
    ],
    ['no data', { data: undefined }, { kind: 'unknown', code: 'NO_ANSWER' }],
    [
      'a server that is down',
      { data: undefined, error: status(503) },
      { kind: 'unknown', code: 'NO_ANSWER' },
    ],
    [
      'a token that is not taken',
      { data: undefined, error: failure('UNAUTHENTICATED') },
      { kind: 'signedOut' },
    ],
    ['a proxy that takes none', { data: undefined, error: status(401) }, { kind: 'signedOut' }],
    [
      'false beside an error',
      answered(false, failure('OPERATOR_TIMEOUT')),
      { kind: 'unknown', code: 'OPERATOR_TIMEOUT' },
    ],
  ] as const)('%s', (_, answer, verdict) => {
    expect(judge(answer)).toEqual(verdict);
  });
});

it('sends no SMS on any verdict but trusted', () => {
  const others = [
    { kind: 'swapped' },
    { kind: 'pending', retryAfterSeconds: 1, expiresAt: null },
    { kind: 'declined' },
    { kind: 'unanswered' },
    { kind: 'signedOut' },
    { kind: 'unknown', code: 'NO_ANSWER' },
  ] as const;
  for (const verdict of others) expect(screen(verdict)).not.toMatch(/sent you a code/);
  expect(screen({ kind: 'trusted', e164: '+447700900001' })).toMatch(/sent you a code/);
});

it('tells until when it waits, where that is known', () => {
  const pending = { kind: 'pending', retryAfterSeconds: 1 } as const;
  expect(screen({ ...pending, expiresAt: EXPIRES_AT })).toMatch(/agree there by \d\d:\d\d,/);
  expect(screen({ ...pending, expiresAt: null })).toMatch(/agree there,/);
});
