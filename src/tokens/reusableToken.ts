import { AccessToken, Redacted, TokenMisused, type TokenSubject } from './accessToken.ts';
import type { TokenReach } from './tokenReach.ts';

export interface ReusableTokenParts {
  readonly value: string;
  /** On the monotonic clock. */
  readonly expiresAtMs: number;
  readonly reach: TokenReach;
  readonly reachOf: (subject: TokenSubject) => TokenReach;
}

/** An access token that may be used again, within its reach. It shows its value nowhere. */
export class ReusableToken extends Redacted {
  readonly #parts: ReusableTokenParts;

  constructor(parts: ReusableTokenParts) {
    super();
    this.#parts = parts;
  }

  get reach(): TokenReach {
    return this.#parts.reach;
  }

  get expiresAtMs(): number {
    return this.#parts.expiresAtMs;
  }

  /** How much of memory its value takes, in bytes at most. */
  get bytes(): number {
    return 2 * this.#parts.value.length;
  }

  /**
   * The right to one lookup with it.
   *
   * @param onRefused is called when the operator refuses it
   * @throws {TokenMisused} for a lookup beyond its reach
   */
  lend(subject: TokenSubject, onRefused: () => void): AccessToken {
    const { value, expiresAtMs, reach, reachOf } = this.#parts;
    if (reachOf(subject) !== reach) {
      throw new TokenMisused('An access token was to be used for another number or operation.');
    }
    return new AccessToken(subject, value, expiresAtMs, { onRefused });
  }
}
