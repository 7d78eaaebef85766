import { CombinedGraphQLErrors, type ApolloClient } from '@apollo/client';
import type { SimSwappedQuery } from '../generated/graphql.ts';

/** What the app makes of an answer; a union, so that no screen can forget a case. */
export type Verdict =
  /** The operator vouches that the SIM card is the old one: an SMS code reaches its owner. */
  | { readonly kind: 'trusted' }
  /** The SIM card changed lately: an SMS code may reach a thief. */
  | { readonly kind: 'swapped' }
  /** The owner has been asked for consent on the phone, and has not answered yet. */
  | { readonly kind: 'pending'; readonly retryAfterSeconds: number }
  /** The owner said no, or said nothing in time. */
  | { readonly kind: 'declined' }
  | { readonly kind: 'unanswered' }
  /** Nobody knows. Never to be taken for `trusted`. */
  | { readonly kind: 'unknown'; readonly code: string };

const SHORTEST_RETRY_SECONDS = 1;

/** Judges an answer. Only a `false` that the BFF gave is trusted; whatever else there may be is not. */
export function judge({ data, error }: ApolloClient.QueryResult<SimSwappedQuery>): Verdict {
  const swapped = data?.phoneNumber?.simSwappedWithin;
  if (swapped === true) return { kind: 'swapped' };
  if (swapped === false && error === undefined) return { kind: 'trusted' };

  const [first] = CombinedGraphQLErrors.is(error) ? error.errors : [];
  const { code, retryAfterSeconds } = first?.extensions ?? {};
  switch (code) {
    case 'CONSENT_PENDING': {
      const seconds = typeof retryAfterSeconds === 'number' ? retryAfterSeconds : 0;
      return { kind: 'pending', retryAfterSeconds: Math.max(seconds, SHORTEST_RETRY_SECONDS) };
    }
    case 'CONSENT_DENIED':
      return { kind: 'declined' };
    case 'CONSENT_EXPIRED':
      return { kind: 'unanswered' };
    default:
      return { kind: 'unknown', code: typeof code === 'string' ? code : 'NO_ANSWER' };
  }
}
