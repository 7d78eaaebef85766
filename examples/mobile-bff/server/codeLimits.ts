const WINDOW_MS = 60 * 60_000;

/** Codes an hour. A number has more than a user, so that users reach their own limit first. */
const CODES_PER_USER = 3;
const CODES_PER_NUMBER = 5;

/** Users and numbers that are kept, each for an hour; beyond them no code is sent. */
const MAX_KEPT = 200_000;

/** What became of a claim. */
export type Claim =
  | { readonly kind: 'claimed' }
  /** The user's own codes of this hour are used up. */
  | { readonly kind: 'userLimit'; readonly retryAfterSeconds: number }
  /** The number's are. Other users may have requested them: this user is not to learn of it. */
  | { readonly kind: 'numberLimit' };

/**
 * How many codes were sent within the last hour, by user and by number. In memory: several processes keep these counts
 * in a store that they share.
 */
export class CodeLimits {
  readonly #nowMs: () => number;
  /** When codes were sent, oldest first; whoever had the latest code is last. */
  readonly #sentAtMs = new Map<string, readonly number[]>();

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
  }

  /** Seconds until this user may have another code; 0 where one is left. */
  retryAfterSeconds(user: string): number {
    const sentAtMs = this.#within(userKey(user));
    const first = sentAtMs.at(-CODES_PER_USER);
    return first === undefined ? 0 : Math.ceil((first + WINDOW_MS - this.#nowMs()) / 1000);
  }

  /** Counts a code before it is sent, so that no number of requests at once gets more; or counts nothing. */
  claim(user: string, e164: string): Claim {
    this.#forget();
    const retryAfterSeconds = this.retryAfterSeconds(user);
    if (retryAfterSeconds > 0) return { kind: 'userLimit', retryAfterSeconds };
    const isFull = this.#sentAtMs.size + 2 > MAX_KEPT;
    if (isFull || this.#within(e164).length >= CODES_PER_NUMBER) return { kind: 'numberLimit' };
    for (const key of [userKey(user), e164]) {
      const sentAtMs = [...this.#within(key), this.#nowMs()];
      this.#sentAtMs.delete(key);
      this.#sentAtMs.set(key, sentAtMs);
    }
    return { kind: 'claimed' };
  }

  #within(key: string): readonly number[] {
    const sinceMs = this.#nowMs() - WINDOW_MS;
    return (this.#sentAtMs.get(key) ?? []).filter((atMs) => atMs > sinceMs);
  }

  #forget(): void {
    for (const key of this.#sentAtMs.keys()) {
      if (this.#within(key).length > 0) return;
      this.#sentAtMs.delete(key);
    }
  }
}

/** No user's key is a number's. */
function userKey(user: string): string {
  return `user ${user}`;
}
