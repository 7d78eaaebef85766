import { AccessToken, Redacted, TokenMisused, type TokenSubject } from './accessToken.ts';
import type { TokenCoverage } from './tokenCoverage.ts';

export interface ReusableTokenParts {
  readonly value: string;
  /** On the monotonic clock. */
  readonly expiresAtMs: number;
  readonly coverage: TokenCoverage;
  readonly coverageOf: (subject: TokenSubject) => TokenCoverage;
}

/** An access token that may be used again, for what it covers. It shows its value nowhere. */
export class ReusableToken extends Redacted {
  readonly #parts: ReusableTokenParts;

  constructor(parts: ReusableTokenParts) {
    super();
    this.#parts = parts;
  }

  get coverage(): TokenCoverage {
    return this.#parts.coverage;
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
   * @throws {TokenMisused} for a lookup that it does not cover
   */
  lend(subject: TokenSubject, onRefused: () => void): AccessToken {
    const { value, expiresAtMs, coverage, coverageOf } = this.#parts;
    if (coverageOf(subject) !== coverage) {
      throw new TokenMisused('An access token was to be used for another number or operation.');
    }
    return new AccessToken(subject, value, expiresAtMs, { onRefused });
  }
}
