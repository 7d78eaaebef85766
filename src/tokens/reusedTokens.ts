import type { Clock } from '../system/clock.ts';
import type { LookupFailure } from '../domain/errors.ts';
import { WorkByKey, type Sharing } from '../http/urgency.ts';
import { AccessToken, Redacted, TokenMisused, type TokenSubject } from './accessToken.ts';
import type { TokenCoverage } from './authorizationSettings.ts';

/* Tokens that an operator lets us use again (docs/decisions/0012). */

type CoverageOf = (subject: TokenSubject) => TokenCoverage;

/** An access token that may be used again, for what it covers. It shows its value nowhere. */
export class ReusableToken extends Redacted {
  readonly coverage: TokenCoverage;
  /** On the monotonic clock. */
  readonly expiresAtMs: number;
  readonly #value: string;
  readonly #coverageOf: CoverageOf;

  /** @param subject what it was issued for */
  constructor(value: string, expiresAtMs: number, subject: TokenSubject, coverageOf: CoverageOf) {
    super();
    this.coverage = coverageOf(subject);
    this.expiresAtMs = expiresAtMs;
    this.#value = value;
    this.#coverageOf = coverageOf;
  }

  /** How much of memory its value takes, in bytes at most. */
  get bytes(): number {
    return 2 * this.#value.length;
  }

  /**
   * The right to one lookup with it.
   *
   * @param onRefused is called when the operator refuses it
   * @throws {TokenMisused} for a lookup that it does not cover
   */
  lend(subject: TokenSubject, onRefused: () => void): AccessToken {
    if (this.#coverageOf(subject) !== this.coverage) {
      throw new TokenMisused('An access token was to be used for another number or operation.');
    }
    return new AccessToken(subject, this.#value, this.expiresAtMs, { onRefused });
  }
}

/** What tokens of one operator may take up, values and keys together. */
const MAX_BYTES = 16 * 1024 * 1024;

/** What an entry takes beside its value and its key. */
const ENTRY_BYTES = 512;

/**
 * Reusable tokens in this process's memory, each until shortly before its end. When there are too many,
 * the one that is kept longest goes first.
 */
export class KeptTokens {
  readonly #clock: Clock;
  readonly #marginMs: number;
  readonly #maxBytes: number;
  /** In the order in which they came. */
  readonly #kept = new Map<string, ReusableToken>();
  #bytes = 0;

  /** @param marginMs how long before its end a token is used no more */
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

  /** In the place of the one that was kept under this key. */
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

  /** Drops this very token; another that has come in its place stays. */
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
      /** Where the operator lets its tokens be used again. */
      readonly reusable?: ReusableToken;
    }
  | { readonly kind: 'failed'; readonly failure: LookupFailure };

/** Asks the authorization server for a token. */
type IssueToken = (
  subject: TokenSubject,
  context: ExchangeContext,
  isRetry: boolean,
) => Promise<Acquired>;

/**
 * Tokens of the 2-legged flow that may be used again. Each is asked for once, however many lookups wait
 * for it, and serves them all; a failure is told to those that waited, and is not kept.
 */
export class SharedTokens {
  readonly #kept: KeptTokens;
  readonly #coverageOf: CoverageOf;
  readonly #issue: IssueToken;
  readonly #underWay = new WorkByKey<TokenCoverage, Acquired>();

  constructor(kept: KeptTokens, coverageOf: CoverageOf, issue: IssueToken) {
    this.#kept = kept;
    this.#coverageOf = coverageOf;
    this.#issue = issue;
  }

  /** At once where a token is kept. Never rejects. */
  acquire(
    subject: TokenSubject,
    context: ExchangeContext,
    isRetry: boolean,
  ): Promise<Acquired> | Acquired {
    const coverage = this.#coverageOf(subject);
    const known = this.#kept.find(coverage);
    if (known !== undefined) return this.#lend(known, subject);
    const issue = async (shared: ExchangeContext): Promise<Acquired> => {
      const issued = await this.#issue(subject, shared, isRetry);
      if (issued.kind === 'acquired' && issued.reusable !== undefined) {
        this.#kept.keep(coverage, issued.reusable);
      }
      return issued;
    };
    return this.#underWay
      .join(coverage, context, TIME_OVER, issue)
      .then((issued) =>
        issued.kind === 'failed' || issued.reusable === undefined
          ? issued
          : this.#lend(issued.reusable, subject),
      );
  }

  #lend(token: ReusableToken, subject: TokenSubject): Acquired {
    const onRefused = (): void => this.#kept.drop(token.coverage, token);
    return { kind: 'acquired', token: token.lend(subject, onRefused) };
  }
}

/** The request's time is over before the token comes. */
const TIME_OVER: Acquired = {
  kind: 'failed',
  failure: { code: 'OPERATOR_TIMEOUT', reach: 'number' },
};
