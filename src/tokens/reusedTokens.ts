import type { Clock } from '../system/clock.ts';
import { AccessToken, Redacted, TokenMisused, type TokenSubject } from './accessToken.ts';
import type { TokenCoverage } from './authorizationSettings.ts';

/* Tokens that an operator lets us use again (docs/decisions/0012). */

/** An access token that may be used again, for what it covers. It shows its value nowhere. */
export class ReusableToken extends Redacted {
  readonly coverage: TokenCoverage;
  /** On the monotonic clock. */
  readonly expiresAtMs: number;
  readonly #value: string;
  readonly #coverageOf: (subject: TokenSubject) => TokenCoverage;

  /** @param subject what it was issued for */
  constructor(
    value: string,
    expiresAtMs: number,
    subject: TokenSubject,
    coverageOf: (subject: TokenSubject) => TokenCoverage,
  ) {
    super();
    this.coverage = coverageOf(subject);
    this.expiresAtMs = expiresAtMs;
    this.#value = value;
    this.#coverageOf = coverageOf;
  }

  /** Of its value, at most. */
  get bytes(): number {
    return 2 * this.#value.length;
  }

  /** @throws {TokenMisused} for a lookup that it does not cover */
  lend(subject: TokenSubject, onRefused: () => void): AccessToken {
    if (this.#coverageOf(subject) !== this.coverage) {
      throw new TokenMisused('An access token was to be used for another number or operation.');
    }
    return new AccessToken(subject, this.#value, this.expiresAtMs, { onRefused });
  }
}

/** What tokens of one operator may take up, values and keys together. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Beside its value and its key. */
const ENTRY_BYTES = 512;

/** Keeps each until shortly before its end. When there are too many, the oldest is dropped first. */
export class KeptTokens {
  readonly #clock: Clock;
  readonly #marginMs: number;
  readonly #maxBytes: number;
  /** In the order in which they came. */
  readonly #kept = new Map<string, ReusableToken>();
  #bytes = 0;

  /** @param marginMs how long before its end a token is no longer used */
  constructor(clock: Clock, marginMs: number, maxBytes = MAX_BYTES) {
    this.#clock = clock;
    this.#marginMs = marginMs;
    this.#maxBytes = maxBytes;
  }

  find(key: string): ReusableToken | undefined {
    const token = this.#kept.get(key);
    if (token === undefined || !this.#isOver(token)) return token;
    this.drop(key, token);
    return undefined;
  }

  /** Replaces the one that is kept under this key. */
  keep(key: string, token: ReusableToken): void {
    if (this.#isOver(token)) return;
    const before = this.#kept.get(key);
    if (before !== undefined) this.drop(key, before);
    this.#kept.set(key, token);
    this.#bytes += bytesOf(key, token);
    for (const [oldestKey, oldest] of this.#kept) {
      if (this.#bytes <= this.#maxBytes && !this.#isOver(oldest)) return;
      this.drop(oldestKey, oldest);
    }
  }

  /** Drops this token only; one that has replaced it stays. */
  drop(key: string, token: ReusableToken): void {
    if (this.#kept.get(key) !== token) return;
    this.#kept.delete(key);
    this.#bytes -= bytesOf(key, token);
  }

  #isOver({ expiresAtMs }: ReusableToken): boolean {
    return this.#clock.monotonicMs() >= expiresAtMs - this.#marginMs;
  }
}

function bytesOf(key: string, token: ReusableToken): number {
  return ENTRY_BYTES + 2 * key.length + token.bytes;
}
