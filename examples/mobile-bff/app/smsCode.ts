import type { CodeReply, RequestCode } from './codeReply.ts';

/** Another caller's question says not when it ends; none outlives this. */
const MAX_WAIT_MS = 10 * 60_000;

/** So long a user may look at "waiting" before the screen offers another way. */
export const PATIENCE_MS = 30_000;

/** Waits; rejects when the user leaves the screen. */
export type Sleep = (ms: number) => Promise<void>;

/** What a screen shows. */
export type CodeState =
  | Exclude<CodeReply, { readonly kind: 'pending' }>
  | (Extract<CodeReply, { readonly kind: 'pending' }> & {
      /** Whether the wait is long enough to offer another way to sign in. */
      readonly offersAnotherWay: boolean;
    });

/**
 * Requests an SMS code of the server, and reports every state on the way: while the user has not consented, `pending`
 * ones, each followed by another request after the time of the reply; then the last. Another request joins the same
 * consent: no phone rings twice. It ends at `expiresAt`, or after ten minutes where that is not known.
 *
 * @param leaving ends the request that is under way; what is yielded after that says nothing
 */
export async function* smsCode(
  requestCode: RequestCode,
  sleep: Sleep,
  leaving?: AbortSignal,
): AsyncGenerator<CodeState, void> {
  const startedAtMs = Date.now();
  const givesUpAtMs = startedAtMs + MAX_WAIT_MS;
  for (;;) {
    const reply = await requestCode(leaving);
    if (reply.kind !== 'pending') {
      yield reply;
      return;
    }
    const nowMs = Date.now();
    const endsAtMs = reply.expiresAt === null ? givesUpAtMs : Date.parse(reply.expiresAt);
    const leftMs = Math.min(endsAtMs, givesUpAtMs) - nowMs;
    if (leftMs <= 0) {
      yield { kind: 'anotherWay' };
      return;
    }
    yield { ...reply, offersAnotherWay: nowMs - startedAtMs >= PATIENCE_MS };
    await sleep(Math.min(reply.retryAfterSeconds * 1000, leftMs));
  }
}
