import type { LookupFailure } from '../domain/errors.ts';
import { WorkByKey, type Sharing } from '../http/urgency.ts';
import type { AccessToken, TokenSubject } from './accessToken.ts';
import type { KeptTokens } from './keptTokens.ts';
import type { ReusableToken } from './reusableToken.ts';
import type { TokenCoverage } from './tokenCoverage.ts';

/** Whose exchange it is: how it is named on the wire, and until when it is of use. */
export interface ExchangeContext extends Sharing {
  /** Is called when the first byte of an exchange leaves. */
  readonly onFirstByte?: () => void;
}

/** A token, or why there is none. */
export type Acquired =
  | {
      readonly kind: 'acquired';
      readonly token: AccessToken;
      /** Of a consent, where the operator lets its tokens be used again. */
      readonly reusable?: ReusableToken;
    }
  | { readonly kind: 'failed'; readonly failure: LookupFailure };

export interface SharedTokensParts {
  readonly kept: KeptTokens;
  readonly coverageOf: (subject: TokenSubject) => TokenCoverage;
  /** Asks the authorization server for one. */
  readonly issue: (
    subject: TokenSubject,
    context: ExchangeContext,
    isRetry: boolean,
  ) => Promise<Acquired>;
}

/**
 * Tokens of the 2-legged flow that may be used again. Each is asked for once, however many lookups wait
 * for it, and serves them all; a failure is told to those that waited, and is not kept.
 */
export class SharedTokens {
  readonly #parts: SharedTokensParts;
  readonly #underWay = new WorkByKey<TokenCoverage, Acquired>();

  constructor(parts: SharedTokensParts) {
    this.#parts = parts;
  }

  /** At once where a token is kept. Never rejects. */
  acquire(
    subject: TokenSubject,
    context: ExchangeContext,
    isRetry: boolean,
  ): Promise<Acquired> | Acquired {
    const coverage = this.#parts.coverageOf(subject);
    const known = this.#parts.kept.find(coverage);
    if (known !== undefined) return this.#lend(known, subject);
    return this.#underWay
      .join(coverage, context, (shared) => this.#issue(subject, shared, isRetry))
      .outcomeFor(context, TIME_OVER)
      .then((issued) =>
        issued.kind === 'failed' || issued.reusable === undefined
          ? issued
          : this.#lend(issued.reusable, subject),
      );
  }

  async #issue(
    subject: TokenSubject,
    request: ExchangeContext,
    isRetry: boolean,
  ): Promise<Acquired> {
    const issued = await this.#parts.issue(subject, request, isRetry);
    if (issued.kind === 'acquired' && issued.reusable !== undefined) {
      this.#parts.kept.keep(issued.reusable.coverage, issued.reusable);
    }
    return issued;
  }

  #lend(token: ReusableToken, subject: TokenSubject): Acquired {
    const onRefused = (): void => this.#parts.kept.drop(token.coverage, token);
    return { kind: 'acquired', token: token.lend(subject, onRefused) };
  }
}

/** The request's time is over before the token comes. */
const TIME_OVER: Acquired = {
  kind: 'failed',
  failure: { code: 'OPERATOR_TIMEOUT', reach: 'number' },
};
