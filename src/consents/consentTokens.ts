import type { Clock } from '../system/clock.ts';
import type { CallerKey } from '../domain/identity.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { TokenSubject } from '../tokens/accessToken.ts';
import { hashedCallerKey } from '../lookups/factCache.ts';
import { lookupFailed, type LookupRoute } from '../lookups/lookupRoute.ts';
import { KeptTokens } from '../tokens/reusedTokens.ts';
import type { ReusableToken } from '../tokens/reusedTokens.ts';
import type { Acquired } from '../tokens/tokenManager.ts';
import type { TokenCoverage } from '../tokens/authorizationSettings.ts';

export interface ConsentTokensParts {
  readonly clock: Clock;
  /** How long before its end a token is used no more. */
  readonly marginMs: number;
  readonly coverageOf: (subject: TokenSubject) => TokenCoverage;
  /** How long the owner is not prompted anew after their token was refused. */
  readonly failureMs: number;
}

export type HeldConsent =
  | { readonly kind: 'held'; readonly consentId: string }
  | { readonly kind: 'refused'; readonly failure: LookupFailure }
  | { readonly kind: 'none' };

/** Refused tokens that are remembered; the one that is remembered longest goes first. */
const MAX_REFUSED = 10_000;

/**
 * The tokens of consents, where the operator lets them be used again: each for the caller and purpose that
 * the owner of the number consented to, in this process's memory alone. Another replica asks the owner.
 */
export class ConsentTokens {
  readonly #parts: ConsentTokensParts;
  readonly #kept: KeptTokens;
  readonly #consentIds = new WeakMap<ReusableToken, string>();
  /** Until when, in the order in which they came. */
  readonly #refused = new Map<string, number>();

  constructor(parts: ConsentTokensParts) {
    this.#parts = parts;
    this.#kept = new KeptTokens(parts.clock, parts.marginMs);
  }

  /** @param callerKey for whom the owner was asked */
  keep(callerKey: CallerKey, subject: TokenSubject, token: ReusableToken, consentId: string): void {
    this.#consentIds.set(token, consentId);
    this.#kept.keep(this.#key(callerKey, subject), token);
  }

  find(callerKey: CallerKey, subject: TokenSubject): HeldConsent {
    const key = this.#key(callerKey, subject);
    const token = this.#kept.find(key);
    if (token !== undefined) {
      return { kind: 'held', consentId: this.#consentIds.get(token) ?? '' };
    }
    const leftMs = (this.#refused.get(key) ?? 0) - this.#parts.clock.monotonicMs();
    if (leftMs <= 0) {
      this.#refused.delete(key);
      return { kind: 'none' };
    }
    const retryAfterSeconds = Math.ceil(leftMs / 1000);
    return {
      kind: 'refused',
      failure: { code: 'OPERATOR_REFUSED', reach: 'operation', retryAfterSeconds },
    };
  }

  /** The consent under which the caller's lookups are made; `undefined` where there is none. */
  consentIdOf(callerKey: CallerKey, subject: TokenSubject): string | undefined {
    const held = this.find(callerKey, subject);
    return held.kind === 'held' ? held.consentId : undefined;
  }

  /** The right to one lookup. */
  acquire(callerKey: CallerKey, subject: TokenSubject): Acquired {
    const key = this.#key(callerKey, subject);
    const token = this.#kept.find(key);
    if (token === undefined) return { kind: 'failed', failure: OVER };
    return { kind: 'acquired', token: token.lend(subject, () => this.#drop(key, token)) };
  }

  /** The owner has consented once: a refusal of the operator's is no reason to ask them again at once. */
  #drop(key: string, token: ReusableToken): void {
    const { clock, failureMs } = this.#parts;
    const refused = this.#refused;
    this.#kept.drop(key, token);
    refused.delete(key);
    refused.set(key, clock.monotonicMs() + failureMs);
    const [oldest] = refused.keys();
    if (refused.size > MAX_REFUSED && oldest !== undefined) refused.delete(oldest);
  }

  #key(callerKey: CallerKey, subject: TokenSubject): string {
    return `${hashedCallerKey(callerKey, subject.number)} ${this.#parts.coverageOf(subject)}`;
  }
}

/** It ended while the lookup waited for its turn: asking again prompts anew. */
const OVER: LookupFailure = { code: 'CONSENT_EXPIRED', reach: 'number' };

/**
 * 3-legged, where a consent's token may be used again: while it lives, its caller's lookups prompt no more.
 *
 * @param consented asks the owner of the number
 * @param direct uses the token of a consent that was given
 */
export function reusedConsents(
  tokens: ConsentTokens,
  consented: LookupRoute,
  direct: LookupRoute,
): LookupRoute {
  return {
    lookUp(lookup, session, recalledAtMs) {
      const { number, request } = session;
      const held = tokens.find(request, { number, operation: lookup.operation });
      switch (held.kind) {
        case 'held':
          return direct.lookUp(lookup, session);
        case 'refused':
          return Promise.resolve(lookupFailed(lookup, held.failure));
        case 'none':
          return consented.lookUp(lookup, session, recalledAtMs);
      }
    },
    consent: (number, request) => consented.consent(number, request),
    async close() {
      await direct.close();
      await consented.close();
    },
  };
}
