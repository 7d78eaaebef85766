import type { Clock } from '../clock.ts';
import type { Lookup, Operation } from '../domain/question.ts';
import type { LookupFailure } from '../errors.ts';
import type { Bulkhead } from '../http/resilience/bulkhead.ts';
import type { Operator } from '../operator/operator.ts';
import type { ExchangeContext, TokenManager } from '../tokens/tokenManager.ts';
import {
  lookupFailed,
  OUT_OF_TIME,
  type ConsentReading,
  type Inquiry,
  type LookupOutcome,
  type LookupRequest,
  type LookupRoute,
} from './lookupRoute.ts';
import { ifAdmitted, type Admission, type AuditOutcome } from './admission.ts';
import { failureOf } from './bulkheadFailure.ts';

/** What direct lookups take. */
export interface DirectParts {
  readonly tokens: TokenManager;
  readonly operator: Operator;
  readonly admission: Admission;
  /** A token and its lookup share one permit; with separate queues tokens would expire while waiting. */
  readonly bulkheads: Readonly<Record<Operation, Bulkhead>>;
  readonly clock: Clock;
}

/** 2-legged: every lookup takes a token of its own and goes out. */
export class DirectLookups implements LookupRoute {
  readonly #parts: DirectParts;

  constructor(parts: DirectParts) {
    this.#parts = parts;
  }

  lookUp(lookup: Lookup, inquiry: Inquiry): Promise<LookupOutcome> {
    const { request } = inquiry;
    if (request.signal.aborted) return Promise.resolve(lookupFailed(lookup, OUT_OF_TIME));
    return this.#parts.bulkheads[lookup.operation].run(
      request,
      () => this.#lookUpIfAdmitted(lookup, inquiry),
      (rejection) => lookupFailed(lookup, failureOf(rejection)),
    );
  }

  /** No owner is asked for consent. */
  consent(): Promise<ConsentReading> {
    return Promise.resolve({ kind: 'read', status: { state: 'NOT_NEEDED' } });
  }

  /** Nothing of a direct lookup outlives its request. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  #lookUpIfAdmitted(lookup: Lookup, inquiry: Inquiry): Promise<LookupOutcome> {
    const { number, request } = inquiry;
    return ifAdmitted(this.#parts.admission, {
      asked: { event: 'lookup', lookup, number, request },
      run: () => this.#acquireAndLookUp(lookup, inquiry),
      endingOf: ({ outcome, attempts }) => ({
        outcome: auditOutcomeOf(outcome),
        attempts,
      }),
      onDenied: (failure) => ({ outcome: lookupFailed(lookup, failure), attempts: 0 }),
    }).then(({ outcome }) => outcome);
  }

  /** @param earlierAttempts of the same lookup; after one, there is no further one */
  async #acquireAndLookUp(
    lookup: Lookup,
    inquiry: Inquiry,
    earlierAttempts?: number,
  ): Promise<CountedOutcome> {
    const { tokens, operator, clock } = this.#parts;
    const { number, request } = inquiry;
    const isRetry = earlierAttempts !== undefined;
    const subject = { number, operation: lookup.operation };
    const counted = (outcome: LookupOutcome, attempts = 0): CountedOutcome => ({
      outcome,
      attempts: (earlierAttempts ?? 0) + attempts,
    });
    const acquired = await tokens.acquire(subject, contextOf(request, isRetry));
    switch (acquired.kind) {
      case 'failed':
        return counted(lookupFailed(lookup, acquired.failure));
      case 'acquired':
    }
    const { token } = acquired;
    if (token.isExpired(clock.monotonicMs())) return counted(lookupFailed(lookup, STALE_TOKEN));

    const order = { lookup, number, token, isRetry };
    const leftAtMs = clock.monotonicMs();
    request.onLeaving?.(leftAtMs);
    const { judged, attempts, mayRetryWithNewToken } = await operator.lookUp(order, request);
    switch (judged.kind) {
      case 'answered':
        return counted({ kind: 'facts', facts: [{ ...judged.fact, leftAtMs }] }, attempts);
      case 'failed':
        return mayRetryWithNewToken
          ? this.#acquireAndLookUp(lookup, inquiry, attempts)
          : counted(lookupFailed(lookup, judged.failure), attempts);
    }
  }
}

/** What a lookup brought, and how many of its exchanges may have reached the operator. */
interface CountedOutcome {
  readonly outcome: LookupOutcome;
  readonly attempts: number;
}

function contextOf(request: LookupRequest, isRetry: boolean): ExchangeContext {
  if (!isRetry) return request;
  // The deadline is read when it is needed: that of a shared lookup moves on.
  const { correlator, signal, isShared } = request;
  return {
    correlator,
    signal,
    isShared,
    isRetry,
    get deadlineMs() {
      return request.deadlineMs;
    },
  };
}

function auditOutcomeOf(outcome: LookupOutcome): AuditOutcome {
  switch (outcome.kind) {
    case 'facts':
      return 'answered';
    case 'failed':
      return outcome.failed.failure.code;
  }
}

/** A token that is over before it can be used could only be refused. */
const STALE_TOKEN: LookupFailure = { code: 'OPERATOR_INVALID_REPLY', reach: 'number' };
