import type { Clock } from '../system/clock.ts';
import type { Asker } from '../domain/asker.ts';
import type { Lookup, Operation } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { Bulkhead } from '../http/resilience/bulkhead.ts';
import type { Operator } from '../operator/operator.ts';
import type { TokenSubject } from '../tokens/accessToken.ts';
import type { Acquired, ExchangeContext } from '../tokens/tokenManager.ts';
import {
  lookupFailed,
  OUT_OF_TIME,
  timed,
  type ConsentReading,
  type Inquiry,
  type LookupOutcome,
  type LookupRequest,
  type LookupRoute,
} from './lookupRoute.ts';
import {
  ifAdmitted,
  type LookupAuthorizer,
  type AskedLookup,
  type AuditOutcome,
} from './lookupAuthorizer.ts';
import { failureOf } from './bulkheadFailure.ts';
import type { KeyedMutex } from './keyedMutex.ts';

/** What direct lookups take. */
export interface DirectParts {
  /** The right to a lookup of an asker's. */
  readonly acquire: (
    subject: TokenSubject,
    context: ExchangeContext,
    asker: Asker,
  ) => Promise<Acquired> | Acquired;
  /** The consent under which it is made, in the 3-legged flow. */
  readonly consentIdOf?: (subject: TokenSubject, asker: Asker) => string | undefined;
  readonly operator: Operator;
  readonly admission: LookupAuthorizer;
  /** A token and its lookup share one permit; with separate queues tokens would expire while waiting. */
  readonly bulkheads: Readonly<Record<Operation, Bulkhead>>;
  /** Where the operator takes one call about a number at a time. */
  readonly turns: KeyedMutex | undefined;
  readonly clock: Clock;
}

/** Lookups that ask no owner: each takes its token and goes out. */
export class DirectLookups implements LookupRoute {
  readonly #parts: DirectParts;

  constructor(parts: DirectParts) {
    this.#parts = parts;
  }

  lookUp(lookup: Lookup, inquiry: Inquiry): Promise<LookupOutcome> {
    const { number, request } = inquiry;
    if (request.signal.aborted) return Promise.resolve(lookupFailed(lookup, OUT_OF_TIME));
    const { turns } = this.#parts;
    if (turns === undefined) return this.#lookUpWithPermit(lookup, inquiry);
    return turns.run(
      number,
      request,
      () => this.#lookUpWithPermit(lookup, inquiry),
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

  #lookUpWithPermit(lookup: Lookup, inquiry: Inquiry): Promise<LookupOutcome> {
    return this.#parts.bulkheads[lookup.operation].run(
      inquiry.request,
      () => this.#lookUpIfAdmitted(lookup, inquiry),
      (rejection) => lookupFailed(lookup, failureOf(rejection)),
    );
  }

  #lookUpIfAdmitted(lookup: Lookup, inquiry: Inquiry): Promise<LookupOutcome> {
    const { number, request } = inquiry;
    return ifAdmitted(this.#parts.admission, {
      asked: { event: 'lookup', lookup, number, request, ...this.#consentOf(lookup, inquiry) },
      run: () => this.#acquireAndLookUp(lookup, inquiry),
      endingOf: ({ outcome, attempts }) => ({
        outcome: auditOutcomeOf(outcome),
        attempts,
      }),
      onDenied: (failure) => ({ outcome: lookupFailed(lookup, failure), attempts: 0 }),
    }).then(({ outcome }) => outcome);
  }

  #consentOf(
    { operation }: Lookup,
    { number, request }: Inquiry,
  ): Pick<AskedLookup, 'consentId' | 'isFurther'> {
    const consentId = this.#parts.consentIdOf?.({ number, operation }, request);
    return consentId === undefined ? {} : { consentId, isFurther: true };
  }

  /** @param earlierAttempts of the same lookup; after one, there is no further one */
  async #acquireAndLookUp(
    lookup: Lookup,
    inquiry: Inquiry,
    earlierAttempts?: number,
  ): Promise<CountedOutcome> {
    const { acquire, operator, clock } = this.#parts;
    const { number, request } = inquiry;
    const isRetry = earlierAttempts !== undefined;
    const subject = { number, operation: lookup.operation };
    const counted = (outcome: LookupOutcome, attempts = 0): CountedOutcome => ({
      outcome,
      attempts: (earlierAttempts ?? 0) + attempts,
    });
    const acquired = await acquire(subject, contextOf(request, isRetry), request);
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
        return counted(
          {
            kind: 'facts',
            facts: timed(judged.facts, leftAtMs, true, clock),
            closed: judged.closed,
          },
          attempts,
        );
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
