import type { Clock } from '../clock.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../errors.ts';
import type { Operator } from '../operator/operator.ts';
import type { Acquired, TokenManager } from '../tokens/tokenManager.ts';
import type { Inquiry, LookupOutcome, LookupRoute } from './lookupRoute.ts';

/** 2-legged: every lookup takes a token of its own and goes out. */
export class DirectLookups implements LookupRoute {
  readonly #tokens: TokenManager;
  readonly #operator: Operator;
  readonly #clock: Clock;

  constructor(tokens: TokenManager, operator: Operator, clock: Clock) {
    this.#tokens = tokens;
    this.#operator = operator;
    this.#clock = clock;
  }

  async lookUp(lookup: Lookup, inquiry: Inquiry): Promise<LookupOutcome> {
    const { number, request } = inquiry;
    if (request.signal.aborted) return { failed: { lookup, failure: OUT_OF_TIME } };
    const acquired = await this.#acquire(lookup, inquiry);
    if ('failure' in acquired) return { failed: { lookup, failure: acquired.failure } };
    const judged = await this.#operator.lookUp(lookup, number, acquired.token, request);
    return 'fact' in judged
      ? { facts: [judged.fact] }
      : { failed: { lookup, failure: judged.failure } };
  }

  /** Nothing of a direct lookup outlives its request. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  async #acquire(lookup: Lookup, { number, request }: Inquiry): Promise<Acquired> {
    const subject = { number, operation: lookup.operation };
    const acquired = await this.#tokens.acquire(subject, request);
    if ('failure' in acquired) return acquired;
    return acquired.token.isExpired(this.#clock.monotonicMs())
      ? { failure: STALE_TOKEN }
      : acquired;
  }
}

const OUT_OF_TIME: LookupFailure = { code: 'OPERATOR_TIMEOUT', reach: 'number' };

/** A token that is over before it can be used could only be refused. */
const STALE_TOKEN: LookupFailure = { code: 'OPERATOR_INVALID_REPLY', reach: 'number' };
