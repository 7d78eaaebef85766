import { AbortListeners } from '../http/abortListeners.ts';
import { SharedUrgency, SharedWork } from '../http/resilience/sharedWork.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { Correlator } from '../http/correlator.ts';
import type { Urgency } from '../http/resilience/bulkhead.ts';
import type { AccessToken, TokenSubject } from './accessToken.ts';
import type { KeptTokens } from './keptTokens.ts';
import type { ReusableToken } from './reusableToken.ts';
import type { TokenReach } from './tokenReach.ts';

/** Whose exchange it is: how it is named on the wire, and until when it is of use. */
export interface ExchangeContext extends Urgency {
  readonly correlator: Correlator;
  /** Whether it belongs to a second attempt: then there is no third one. */
  readonly isRetry?: boolean;
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

/** A reusable token, or why there is none. */
export type IssuedForReuse =
  | { readonly kind: 'issued'; readonly token: ReusableToken }
  | { readonly kind: 'failed'; readonly failure: LookupFailure };

/** What sharing tokens takes. */
export interface SharedTokensParts {
  readonly kept: KeptTokens;
  readonly reachOf: (subject: TokenSubject) => TokenReach;
  /** Asks the authorization server for one. */
  readonly issue: (subject: TokenSubject, context: ExchangeContext) => Promise<IssuedForReuse>;
}

/**
 * Tokens of the 2-legged flow that may be used again. Each is asked for once, however many lookups wait
 * for it, and serves them all; a failure is told to those that waited, and is not kept.
 */
export class SharedTokens {
  readonly #parts: SharedTokensParts;
  readonly #abortListeners = new AbortListeners();
  readonly #underWay = new Map<TokenReach, SharedWork<IssuedForReuse>>();

  constructor(parts: SharedTokensParts) {
    this.#parts = parts;
  }

  /** Never rejects. */
  async acquire(subject: TokenSubject, context: ExchangeContext): Promise<Acquired> {
    const { kept, reachOf } = this.#parts;
    const reach = reachOf(subject);
    const known = kept.find(reach);
    if (known !== undefined) return this.#lend(known, subject);
    const issued = await this.#join(reach, subject, context).outcomeFor(context);
    switch (issued?.kind) {
      case undefined:
        return { kind: 'failed', failure: OUT_OF_TIME };
      case 'failed':
        return issued;
      case 'issued':
        return this.#lend(issued.token, subject);
    }
  }

  #join(
    reach: TokenReach,
    subject: TokenSubject,
    context: ExchangeContext,
  ): SharedWork<IssuedForReuse> {
    const underWay = this.#underWay.get(reach);
    if (underWay !== undefined && !underWay.isAbandoned) return underWay;
    const shared = new SharedRequest(context);
    const issuing = this.#issue(subject, shared).finally(() => {
      if (this.#underWay.get(reach) === started) this.#underWay.delete(reach);
    });
    const started = new SharedWork(shared, issuing, this.#abortListeners);
    this.#underWay.set(reach, started);
    return started;
  }

  async #issue(subject: TokenSubject, context: ExchangeContext): Promise<IssuedForReuse> {
    const issued = await this.#parts.issue(subject, context);
    if (issued.kind === 'issued') this.#parts.kept.keep(issued.token.reach, issued.token);
    return issued;
  }

  #lend(token: ReusableToken, subject: TokenSubject): Acquired {
    const onRefused = (): void => this.#parts.kept.drop(token.reach, token);
    return { kind: 'acquired', token: token.lend(subject, onRefused) };
  }
}

/** Traced to the first lookup that waits, but not ended with it. */
class SharedRequest extends SharedUrgency implements ExchangeContext {
  readonly correlator: ExchangeContext['correlator'];
  readonly isRetry: boolean;

  constructor(first: ExchangeContext) {
    super(first);
    this.correlator = first.correlator;
    this.isRetry = first.isRetry ?? false;
  }
}

/** The request's time is over before the token comes. */
const OUT_OF_TIME: LookupFailure = { code: 'OPERATOR_TIMEOUT', reach: 'number' };
