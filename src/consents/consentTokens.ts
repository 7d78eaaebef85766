import { LRUCache } from 'lru-cache';
import type { Clock } from '../system/clock.ts';
import type { CallerKey } from '../domain/identity.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { TokenSubject } from '../tokens/accessToken.ts';
import { hashedCallerKey } from '../lookups/factCache.ts';
import type { LookupTokens } from '../lookups/directLookups.ts';
import { lookupFailed, type LookupRoute } from '../lookups/lookupRoute.ts';
import { KeptTokens } from '../tokens/reusedTokens.ts';
import type { ReusableToken } from '../tokens/reusedTokens.ts';
import type { Acquired } from '../tokens/tokenManager.ts';
import type { TokenCoverage } from '../tokens/authorizationSettings.ts';

export interface ConsentTokensParts {
  readonly clock: Clock;
  /** How long before it expires a token is no longer used. */
  readonly marginMs: number;
  readonly coverageOf: (subject: TokenSubject) => TokenCoverage;
  /** How long the owner is not prompted again after their token was refused. */
  readonly failureMs: number;
}

const MAX_REFUSED = 10_000;

/** It ended while the lookup waited for its turn: the next request prompts again. */
const CONSENT_EXPIRED: LookupFailure = { code: 'CONSENT_EXPIRED', reach: 'number' };

/**
 * The tokens of consents, where the operator allows further uses: each for the caller and purpose that the owner
 * consented to, in this process's memory only. Another replica prompts the owner.
 */
export class ConsentTokens implements LookupTokens {
  readonly #parts: ConsentTokensParts;
  readonly #kept: KeptTokens;
  readonly #consentIds = new WeakMap<ReusableToken, string>();
  /** Until when each refusal counts. */
  readonly #refused = new LRUCache<string, number>({
    maxSize: MAX_REFUSED,
    sizeCalculation: () => 1,
  });

  constructor(parts: ConsentTokensParts) {
    this.#parts = parts;
    this.#kept = new KeptTokens(parts.clock, parts.marginMs);
  }

  /** @param callerKey the caller for whom the owner was prompted */
  keep(subject: TokenSubject, callerKey: CallerKey, token: ReusableToken, consentId: string): void {
    this.#consentIds.set(token, consentId);
    this.#kept.keep(this.#key(subject, callerKey), token);
  }

  consentIdOf(subject: TokenSubject, callerKey: CallerKey): string | undefined {
    const token = this.#kept.find(this.#key(subject, callerKey));
    return token && this.#consentIds.get(token);
  }

  acquire(subject: TokenSubject, callerKey: CallerKey): Acquired {
    const key = this.#key(subject, callerKey);
    const token = this.#kept.find(key);
    if (token === undefined) return { kind: 'failed', failure: CONSENT_EXPIRED };
    const onRefused = (): void => {
      const { clock, failureMs } = this.#parts;
      this.#kept.drop(key, token);
      // The owner has consented once: the operator's refusal is no reason to prompt them again at once.
      this.#refused.set(key, clock.monotonicMs() + failureMs);
    };
    return { kind: 'acquired', token: token.lend(subject, onRefused) };
  }

  refusal(subject: TokenSubject, callerKey: CallerKey): LookupFailure | undefined {
    const key = this.#key(subject, callerKey);
    const leftMs = (this.#refused.get(key) ?? 0) - this.#parts.clock.monotonicMs();
    if (leftMs > 0) {
      const retryAfterSeconds = Math.ceil(leftMs / 1000);
      return { code: 'OPERATOR_REFUSED', reach: 'operation', retryAfterSeconds };
    }
    this.#refused.delete(key);
    return undefined;
  }

  #key(subject: TokenSubject, callerKey: CallerKey): string {
    return `${hashedCallerKey(callerKey, subject.number)} ${this.#parts.coverageOf(subject)}`;
  }
}

/** While a consent's token lives, its caller's lookups take the `direct` route, without a prompt. */
export function reusedConsents(
  tokens: ConsentTokens,
  consented: LookupRoute,
  direct: LookupRoute,
): LookupRoute {
  return {
    lookUp(lookup, session, recalledAtMs) {
      const { number, request } = session;
      const subject = { number, operation: lookup.operation, purpose: request.purpose.word };
      if (tokens.consentIdOf(subject, request) !== undefined) return direct.lookUp(lookup, session);
      const failure = tokens.refusal(subject, request);
      return failure === undefined
        ? consented.lookUp(lookup, session, recalledAtMs)
        : Promise.resolve(lookupFailed(lookup, failure));
    },
    consent: (number, request) => consented.consent(number, request),
    async close() {
      await direct.close();
      await consented.close();
    },
  };
}
