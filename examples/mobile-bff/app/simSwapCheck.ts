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
 * told; then the last. Asking again joins the same consent: no phone rings twice. It ends at
 * `expiresAt`, or after ten minutes where that is not known.
 *
 * @param leaving ends the request that is under way; what is yielded after that says nothing
 */
export async function* simSwapCheck(
  client: ApolloClient,
  sleep: Sleep,
  leaving?: AbortSignal,
): AsyncGenerator<Verdict, void> {
  const givesUpAtMs = Date.now() + MAX_WAIT_MS;
  for (;;) {
    const answer = await client.query({
      query: MySimSwapDocument,
      // Whose number it is stands in the access token.
      variables: { maxAgeHours: MAX_AGE_HOURS },
      // An answer from yesterday says nothing about today's SIM card.
      fetchPolicy: 'no-cache',
      // A check that is null has an error beside it that says why; both are wanted.
      errorPolicy: 'all',
      context: { fetchOptions: { signal: leaving } },
    });
    const verdict = judge(answer);
    if (verdict.kind !== 'pending') {
      yield verdict;
      return;
    }
    const endsAtMs = verdict.expiresAt === null ? givesUpAtMs : Date.parse(verdict.expiresAt);
    const leftMs = Math.min(endsAtMs, givesUpAtMs) - Date.now();
    if (leftMs <= 0) {
      yield { kind: 'unanswered' };
      return;
    }
    yield verdict;
    await sleep(Math.min(verdict.retryAfterSeconds * 1000, leftMs));
  }
}
