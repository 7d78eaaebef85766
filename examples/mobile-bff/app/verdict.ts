import { CombinedGraphQLErrors, ServerError, type ApolloClient } from '@apollo/client';
import type { MySimSwapQuery } from '../generated/graphql.ts';

/** What the app makes of an answer; a union, so that no screen can forget a case. */
export type Verdict =
  /** The operator vouches that the SIM card behind this number is the old one: a code reaches its owner. */
  | { readonly kind: 'trusted'; readonly e164: string }
  /** The SIM card changed lately: an SMS code may reach a thief. */
  | { readonly kind: 'swapped' }
  /** The owner has been asked for consent on the phone, and has not answered yet. */
  | {
      readonly kind: 'pending';
      readonly retryAfterSeconds: number;
      /** Until when the owner can answer, where that is known. */
      readonly expiresAt: string | null;
    }
  /** The owner said no, or said nothing in time. */
  | { readonly kind: 'declined' }
  | { readonly kind: 'unanswered' }
  /** The BFF takes no token that the app has: whoever uses it signs in first. */
  | { readonly kind: 'signedOut' }
  /** Nobody knows. Never to be taken for `trusted`. */
  | { readonly kind: 'unknown'; readonly code: string };

const SHORTEST_RETRY_SECONDS = 1;

/** A proxy before the BFF may say it by the status alone; the BFF's own refusal has a code. */
const UNAUTHENTICATED_STATUS = 401;

/** Judges an answer. Only a `false` that the BFF gave is trusted; whatever else there may be is not. */
export function judge({ data, error }: ApolloClient.QueryResult<MySimSwapQuery>): Verdict {
  const number = data?.myPhoneNumber;
  if (number?.simSwappedWithin === true) return { kind: 'swapped' };
  if (number?.simSwappedWithin === false && error === undefined) {
    return { kind: 'trusted', e164: number.e164 };
  }
  if (ServerError.is(error) && error.statusCode === UNAUTHENTICATED_STATUS) {
    return { kind: 'signedOut' };
  }

  const [first] = CombinedGraphQLErrors.is(error) ? error.errors : [];
  const code = first?.extensions?.['code'];
  switch (code) {
    case 'CONSENT_PENDING': {
      // The times stand beside the error's code as well; here they have types.
      const { retryAfterSeconds, expiresAt } = number?.simSwapConsent ?? {};
      return {
        kind: 'pending',
        retryAfterSeconds: Math.max(retryAfterSeconds ?? 0, SHORTEST_RETRY_SECONDS),
        expiresAt: expiresAt ?? null,
      };
    }
    case 'UNAUTHENTICATED':
      return { kind: 'signedOut' };
    case 'CONSENT_DENIED':
      return { kind: 'declined' };
    case 'CONSENT_EXPIRED':
      return { kind: 'unanswered' };
    default:
      return { kind: 'unknown', code: typeof code === 'string' ? code : 'NO_ANSWER' };
  }
}
