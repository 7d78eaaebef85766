import { CombinedGraphQLErrors, ServerError, type ApolloClient } from '@apollo/client';
import { describe, expect, it } from 'vitest';
import { screen } from '../app/screen.ts';
import { judge } from '../app/verdict.ts';
import type { SimSwappedQuery } from '../generated/graphql.ts';

type Answer = ApolloClient.QueryResult<SimSwappedQuery>;

function answered(simSwappedWithin: boolean | null, error?: Answer['error']): Answer {
  const data = {
    __typename: 'Query',
    phoneNumber: { __typename: 'PhoneNumber', e164: '+447700900001', simSwappedWithin },
  } as const;
  return error === undefined ? { data } : { data, error };
}

function failure(code: string, more: Record<string, unknown> = {}): CombinedGraphQLErrors {
  return new CombinedGraphQLErrors({
    errors: [{ message: 'For people.', extensions: { code, ...more } }],
  });
}

const DOWN = new ServerError('Down.', {
  response: new Response(null, { status: 503 }),
  bodyText: '',
});

describe('judging an answer', () => {
  it.each([
    ['false', answered(false), { kind: 'trusted' }],
    ['true', answered(true), { kind: 'swapped' }],
    [
      'pending',
      answered(null, failure('CONSENT_PENDING', { retryAfterSeconds: 4 })),
      { kind: 'pending', retryAfterSeconds: 4 },
    ],
    [
      'pending without a time',
      answered(null, failure('CONSENT_PENDING')),
      { kind: 'pending', retryAfterSeconds: 1 },
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
      { data: { __typename: 'Query', phoneNumber: null } },
      { kind: 'unknown', code: 'NO_ANSWER' },
    ],
    ['no data', { data: undefined }, { kind: 'unknown', code: 'NO_ANSWER' }],
    [
      'a server that is down',
      { data: undefined, error: DOWN },
      { kind: 'unknown', code: 'NO_ANSWER' },
    ],
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
    { kind: 'pending', retryAfterSeconds: 1 },
    { kind: 'declined' },
    { kind: 'unanswered' },
    { kind: 'unknown', code: 'NO_ANSWER' },
  ] as const;
  for (const verdict of others) expect(screen(verdict)).not.toMatch(/sent you a code/);
  expect(screen({ kind: 'trusted' })).toMatch(/sent you a code/);
});
