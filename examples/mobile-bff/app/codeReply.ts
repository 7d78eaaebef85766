/**
 * What the server makes of a request for an SMS code; a union, so that no screen can forget a case. Whoever holds the
 * phone reads it, a thief with a new SIM card among them: why there is no code is not in it.
 */
export type CodeReply =
  /** The SMS is on its way to the number that ends so. */
  | { readonly kind: 'sent'; readonly ending: string }
  /** The owner was prompted on the phone, and has not answered yet. */
  | {
      readonly kind: 'pending';
      readonly retryAfterSeconds: number;
      /** Until when the owner can answer, where that is known. */
      readonly expiresAt: string | null;
    }
  /** No SMS: the SIM card is new, the owner declined or did not answer, or nothing is known. */
  | { readonly kind: 'anotherWay' }
  /** The user had as many codes as a user may have; nothing was looked up. */
  | { readonly kind: 'tooManyCodes'; readonly retryAfterSeconds: number }
  /** The server takes no token that the app has: its user signs in first. */
  | { readonly kind: 'signedOut' };

/** Requests a code of the server; the signal ends the request. */
export type RequestCode = (leaving?: AbortSignal) => Promise<CodeReply>;

/**
 * Requests it by `POST /codes` with the user's access token, and nothing else: whose number it is, and whether an SMS
 * can be trusted, is the server's to find out.
 *
 * @param url of the server
 * @param accessToken fetched for each request: a token that is over is renewed
 */
export function codesAt(url: string, accessToken: () => Promise<string | undefined>): RequestCode {
  return async (leaving) => {
    try {
      const token = await accessToken();
      const reply = await fetch(`${url}/codes`, {
        method: 'POST',
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        signal: leaving ?? null,
      });
      return (await reply.json()) as CodeReply;
    } catch {
      // Offline, or a proxy's page.
      return { kind: 'anotherWay' };
    }
  };
}
