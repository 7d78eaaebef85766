import { CombinedGraphQLErrors, ServerError, type ApolloClient } from '@apollo/client';
import type { CodeReply } from '../app/codeReply.ts';
import type { MySimSwapQuery } from '../generated/graphql.ts';

/** The verdict on an answer: the one case in which an SMS is sent, and why not in the others. */
export type Verdict =
  /** The operator vouches that the SIM card behind this number is the old one: a code reaches its owner. */
  | { readonly kind: 'trusted'; readonly e164: string }
  /** No SMS. The reason (`SWAPPED`, or the code of what is not known) is for your log and your fraud team, never for the app. */
  | { readonly kind: 'withheld'; readonly reason: string }
  | Extract<CodeReply, { readonly kind: 'pending' | 'signedOut' }>;

const MIN_RETRY_SECONDS = 1;

/** The status beside UNAUTHENTICATED; a proxy before the BFF may say no more. */
const UNAUTHENTICATED_STATUS = 401;

/** Judges an answer. Only a `NOT_SWAPPED` of the BFF is trusted. */
export function judge({ data, error }: ApolloClient.QueryResult<MySimSwapQuery>): Verdict {
  const number = data?.myPhoneNumber;
  const check = number?.simSwapCheck;
  switch (check?.result) {
    case 'SWAPPED':
      return { kind: 'withheld', reason: 'SWAPPED' };
    case 'NOT_SWAPPED':
      if (number !== undefined && number !== null && error === undefined) {
        return { kind: 'trusted', e164: number.e164 };
      }
      return { kind: 'withheld', reason: codeOf(error) };
    case 'UNKNOWN':
      return unknown(check);
    default:
      // No answer, or a result that a later version of the BFF has.
      return isUnauthenticated(error)
        ? { kind: 'signedOut' }
        : { kind: 'withheld', reason: codeOf(error) };
  }
}

function isUnauthenticated(error: unknown): boolean {
  return ServerError.is(error)
    ? error.statusCode === UNAUTHENTICATED_STATUS
    : codeOf(error) === 'UNAUTHENTICATED';
}

type Check = NonNullable<NonNullable<MySimSwapQuery['myPhoneNumber']>['simSwapCheck']>;

function unknown({ reason, retryAfterSeconds, expiresAt }: Check): Verdict {
  // Reasons are added in time: one that this version does not know is unknown as well.
  if (reason !== 'CONSENT_PENDING') return { kind: 'withheld', reason: reason ?? NO_ANSWER };
  return {
    kind: 'pending',
    retryAfterSeconds: Math.max(retryAfterSeconds ?? 0, MIN_RETRY_SECONDS),
    expiresAt,
  };
}

const NO_ANSWER = 'NO_ANSWER';

/** The code of the first error. */
function codeOf(error: unknown): string {
  const [first] = CombinedGraphQLErrors.is(error) ? error.errors : [];
  const code = first?.extensions?.['code'];
  return typeof code === 'string' ? code : NO_ANSWER;
}
