import type { Clock } from '../clock.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup, Operation } from '../domain/question.ts';
import type { LookupFailure } from '../errors.ts';
import type { Bulkhead } from '../http/resilience/bulkhead.ts';
import type { Operator } from '../operator/operator.ts';
import type { ConsentStatus } from '../tokens/consents/consentStatus.ts';
import type { Acquired, ExchangeContext, TokenManager } from '../tokens/tokenManager.ts';
import type { Inquiry, LookupOutcome, LookupRoute } from './lookupRoute.ts';
import { ifAdmitted, type Admission } from './admission.ts';
import { failureOf } from './turnedAway.ts';

/** What direct lookups take. */
export interface DirectParts {
  readonly tokens: TokenManager;
  readonly operator: Operator;
  readonly admission: Admission;
  /** One room for a token and the lookup it is for: with one each, tokens would grow old in between. */
  readonly rooms: Readonly<Record<Operation, Bulkhead>>;
  readonly clock: Clock;
}

/** 2-legged: every lookup takes a token of its own and goes out. */
export class DirectLookups implements LookupRoute {
  readonly #parts: DirectParts;

  constructor(parts: DirectParts) {
    this.#parts = parts;
  }

  async lookUp(lookup: Lookup, inquiry: Inquiry): Promise<LookupOutcome> {
    const { request } = inquiry;
    if (request.signal.aborted) return { failed: { lookup, failure: OUT_OF_TIME } };
    const room = this.#parts.rooms[lookup.operation];
    const outcome = await room.run(request, () => this.#lookUpIfAdmitted(lookup, inquiry));
    return typeof outcome === 'string'
      ? { failed: { lookup, failure: failureOf(outcome) } }
      : outcome;
  }

  /** Nobody is asked whose consent it would take. */
  consent(): Promise<ConsentStatus> {
    return Promise.resolve({ state: 'NOT_NEEDED' });
  }

  /** Nothing of a direct lookup outlives its request. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  async #lookUpIfAdmitted(lookup: Lookup, inquiry: Inquiry): Promise<LookupOutcome> {
    const { number, request } = inquiry;
    const outcome = await ifAdmitted(
      this.#parts.admission,
      { event: 'lookup', lookup, number, request },
      () => this.#acquireAndLookUp(lookup, inquiry, false),
      (ended) => ('failed' in ended ? ended.failed.failure.code : 'answered'),
    );
    return 'failure' in outcome ? { failed: { lookup, failure: outcome.failure } } : outcome;
  }

  async #acquireAndLookUp(
    lookup: Lookup,
    inquiry: Inquiry,
    isRetry: boolean,
  ): Promise<LookupOutcome> {
    const { number, request } = inquiry;
    const acquired = await this.#acquire(lookup, number, { ...request, isRetry });
    if ('failure' in acquired) return { failed: { lookup, failure: acquired.failure } };

    const order = { lookup, number, token: acquired.token, isRetry };
    const { judged, mayRetryWithNewToken } = await this.#parts.operator.lookUp(order, request);
    if ('fact' in judged) return { facts: [judged.fact] };
    if (mayRetryWithNewToken) return this.#acquireAndLookUp(lookup, inquiry, true);
    return { failed: { lookup, failure: judged.failure } };
  }

  async #acquire(
    { operation }: Lookup,
    number: PhoneNumber,
    context: ExchangeContext,
  ): Promise<Acquired> {
    const { tokens, clock } = this.#parts;
    const acquired = await tokens.acquire({ number, operation }, context);
    if ('failure' in acquired) return acquired;
    return acquired.token.isExpired(clock.monotonicMs()) ? { failure: STALE_TOKEN } : acquired;
  }
}

const OUT_OF_TIME: LookupFailure = { code: 'OPERATOR_TIMEOUT', reach: 'number' };

/** A token that is over before it can be used could only be refused. */
const STALE_TOKEN: LookupFailure = { code: 'OPERATOR_INVALID_REPLY', reach: 'number' };
