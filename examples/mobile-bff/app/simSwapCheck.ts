import type { ApolloClient } from '@apollo/client';
import { MySimSwapDocument } from '../generated/graphql.ts';
import { judge, type Verdict } from './verdict.ts';

/** Ten days: how long banks commonly distrust a new SIM card. */
const MAX_AGE_HOURS = 240;

/** Another caller's question says not when it ends; none outlives this. */
const MAX_WAIT_MS = 10 * 60_000;

/** Waits; rejects when the user leaves the screen. */
export type Sleep = (ms: number) => Promise<void>;

/**
 * Asks whether an SMS code to the signed-in user can be trusted, and tells every verdict on the way: while
 * the user has not consented, `pending` ones, each followed by another ask after the time that the BFF
 * told; then the last. Asking again joins the same consent: nobody's phone rings twice. It is asked until
 * `expiresAt` and once more, to hear how it ended; a consent that is pending even then is `unanswered`.
 */
export async function* simSwapCheck(
  client: ApolloClient,
  sleep: Sleep,
): AsyncGenerator<Verdict, void> {
  let endsAtMs: number | undefined;
  for (;;) {
    const isLast = endsAtMs !== undefined && Date.now() >= endsAtMs;
    const answer = await client.query({
      query: MySimSwapDocument,
      // Whose number it is stands in the access token.
      variables: { maxAgeHours: MAX_AGE_HOURS },
      // An answer from yesterday says nothing about today's SIM card.
      fetchPolicy: 'no-cache',
      // A check that is null has an error beside it that says why; both are wanted.
      errorPolicy: 'all',
    });
    const verdict = judge(answer);
    if (verdict.kind === 'pending' && isLast) {
      yield { kind: 'unanswered' };
      return;
    }
    yield verdict;
    if (verdict.kind !== 'pending') return;
    // The end of the first question: a second one, after it, is for the user to start.
    endsAtMs ??=
      verdict.expiresAt === null ? Date.now() + MAX_WAIT_MS : Date.parse(verdict.expiresAt);
    const leftMs = Math.max(endsAtMs - Date.now(), 0);
    await sleep(Math.min(verdict.retryAfterSeconds * 1000, leftMs));
  }
}
