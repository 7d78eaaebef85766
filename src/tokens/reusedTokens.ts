import { LRUCache } from 'lru-cache';
import type { Clock } from '../system/clock.ts';
import { AccessToken, Redacted, TokenMisused, type TokenSubject } from './accessToken.ts';
import type { LightAbortSignal } from '../system/urgency.ts';
import type { TokenCoverage } from './authorizationSettings.ts';

/* Tokens that an operator lets us use again (docs/decisions/0012). */

/** An access token that may be used again, for what it covers. It shows its value nowhere. */
export class ReusableToken extends Redacted {
  readonly coverage: TokenCoverage;
  /** Both are times on the monotonic clock. */
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
  readonly #value: string;
  readonly #coverageOf: (subject: TokenSubject) => TokenCoverage;

  /** @param subject what it was issued for */
  constructor(
    value: string,
    expiresAtMs: number,
    subject: TokenSubject,
    coverageOf: (subject: TokenSubject) => TokenCoverage,
    issuedAtMs = 0,
  ) {
    super();
    this.coverage = coverageOf(subject);
    this.issuedAtMs = issuedAtMs;
    this.expiresAtMs = expiresAtMs;
    this.#value = value;
    this.#coverageOf = coverageOf;
  }

  /** The size of its value, at most. */
  get bytes(): number {
    return 2 * this.#value.length;
  }

  /** @throws {TokenMisused} for a lookup that it does not cover */
  lend(
    subject: TokenSubject,
    onRefused: () => void,
    onSettled?: (isRefused: boolean) => void,
  ): AccessToken {
    if (this.#coverageOf(subject) !== this.coverage) {
      throw new TokenMisused('An access token may not be used for another number or operation.');
    }
    const { issuedAtMs: sharedSinceMs } = this;
    const origin = { sharedSinceMs, onRefused, onSettled };
    return new AccessToken(subject, this.#value, this.expiresAtMs, origin);
  }
}

/** The most that the tokens of one operator may take up, values and keys together. */
const MAX_BYTES = 16 * 1024 * 1024;

/** What a kept token takes in addition to its value and its key. */
const ENTRY_BYTES = 512;

/** Keeps each token until shortly before it expires. When there are too many, the least recently used give way. */
export class KeptTokens {
  readonly #clock: Clock;
  readonly #marginMs: number;
  readonly #kept: LRUCache<string, ReusableToken>;

  /** @param marginMs how long before it expires a token is no longer used */
  constructor(clock: Clock, marginMs: number, maxSize = MAX_BYTES) {
    this.#clock = clock;
    this.#marginMs = marginMs;
    this.#kept = new LRUCache({
      maxSize,
      sizeCalculation: ({ bytes }, key) => ENTRY_BYTES + 2 * key.length + bytes,
    });
  }

  find(key: string): ReusableToken | undefined {
    const token = this.#kept.get(key);
    if (token === undefined || !this.#isOver(token)) return token;
    this.#kept.delete(key);
    return undefined;
  }

  /** Replaces the token that is kept under this key. */
  keep(key: string, token: ReusableToken): void {
    if (this.#isOver(token)) return;
    for (const oldestKey of this.#kept.rkeys()) {
      const oldest = this.#kept.peek(oldestKey);
      if (oldest === undefined || !this.#isOver(oldest)) break;
      this.#kept.delete(oldestKey);
    }
    this.#kept.set(key, token);
  }

  /** Drops this token only; a token that has replaced it stays. */
  drop(key: string, token: ReusableToken): void {
    if (this.#kept.peek(key) === token) this.#kept.delete(key);
  }

  #isOver({ expiresAtMs }: ReusableToken): boolean {
    return this.#clock.monotonicMs() >= expiresAtMs - this.#marginMs;
  }
}

/** How long refused tokens are not replaced, once a replacement was refused as well. */
const BARRED_MS = 60_000;

/**
 * Whether reusable tokens that the operator refused may be replaced (docs/design.md, "Retries"). One lookup tries a new
 * token, and the others wait for its outcome: if that token is refused too, none of them is sent again.
 */
export class TokenRefreshes {
  readonly #clock: Clock;
  readonly #charge: () => boolean;
  #trial: PromiseWithResolvers<boolean> | undefined;
  #trialBeganAtMs = -Infinity;
  /** When the latest successful trial began. */
  #triedAtMs = -Infinity;
  #barredUntilMs = -Infinity;

  /** @param charge takes a token and its lookup out of the retry budget; `false` where it does not hold them */
  constructor(clock: Clock, charge: () => boolean) {
    this.#clock = clock;
    this.#charge = charge;
  }

  /** Resolves at the end of the trial under way, with whether it succeeded. */
  get trial(): Promise<boolean> | undefined {
    return this.#trial?.promise;
  }

  /** Whether refused tokens are not replaced for a while. They are kept: another number may still be served. */
  get isBarred(): boolean {
    return this.#clock.monotonicMs() < this.#barredUntilMs;
  }

  /**
   * `first` for the lookup that tries a new token, after which {@link ended} must be called.
   *
   * @param issuedAtMs when the refused token was issued
   */
  async begin(
    issuedAtMs: number,
    signal: LightAbortSignal | undefined,
  ): Promise<'first' | 'again' | 'refused'> {
    if (this.#trial !== undefined) {
      const { promise } = this.#trial;
      const isTaken = await (signal?.unlessAborted(promise) ?? promise);
      return isTaken === true ? 'again' : 'refused';
    }
    if (this.isBarred) return 'refused';
    // A token older than the latest trial: its replacement is known to work.
    if (issuedAtMs < this.#triedAtMs) return 'again';
    if (!this.#charge()) return 'refused';
    this.#trial = Promise.withResolvers();
    this.#trialBeganAtMs = this.#clock.monotonicMs();
    return 'first';
  }

  ended(isRefused: boolean): void {
    const trial = this.#trial;
    if (trial === undefined) return;
    this.#trial = undefined;
    if (isRefused) this.#barredUntilMs = this.#clock.monotonicMs() + BARRED_MS;
    else this.#triedAtMs = this.#trialBeganAtMs;
    trial.resolve(!isRefused);
  }
}
