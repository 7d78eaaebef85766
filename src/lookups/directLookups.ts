import { randomUUID } from 'node:crypto';
import type { Clock } from '../system/clock.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup, Operation } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import { Bulkhead } from '../http/resilience/bulkhead.ts';
import type { Operator } from '../operator/operator.ts';
import type { TokenSubject } from '../tokens/accessToken.ts';
import type { Acquired } from '../tokens/tokenManager.ts';
import {
  lookupFailed,
  rejectionFailure,
  timed,
  type DirectRoute,
  type LookupOutcome,
  type LookupRequest,
  type NumberOfRequest,
} from './lookupRoute.ts';
import { BROKEN, type Admitted, type Ending, type LookupAuthorizer } from './lookupAuthorizer.ts';

/** Where the right to a lookup comes from. */
export interface LookupTokens {
  /** Never rejects. */
  acquire(
    subject: TokenSubject,
    request: LookupRequest,
    isRetry: boolean,
  ): Promise<Acquired> | Acquired;
  /** The consent under which a lookup is made, in the 3-legged flow. */
  consentIdOf?(subject: TokenSubject, request: LookupRequest): string | undefined;
}

export interface DirectParts {
  readonly tokens: LookupTokens;
  readonly operator: Pick<Operator, 'lookUp'>;
  /** Of the operator. */
  readonly identity: string;
  readonly admission: Pick<LookupAuthorizer, 'admit'>;
  /** A token and its lookup share one permit; with separate queues tokens would expire while waiting. */
  readonly bulkheads: Readonly<Record<Operation, Bulkhead>>;
  readonly clock: Clock;
}

/** Lookups that ask no owner: each takes its token and goes out. */
export class DirectLookups implements DirectRoute {
  readonly #parts: DirectParts;
  /** Names replies, with their number: a UUID for each would cost more. */
  readonly #id = randomUUID();
  #replies = 0;

  constructor(parts: DirectParts) {
    this.#parts = parts;
  }

  /**
   * Permit, authorization, token, exchange, judgement, record. Nothing waits for what is there at once: of a thousand
   * numbers each promise counts.
   */
  async lookUp(lookup: Lookup, { number, request }: NumberOfRequest): Promise<LookupOutcome> {
    const { tokens, operator, identity, admission, bulkheads, clock } = this.#parts;
    const bulkhead = bulkheads[lookup.operation];
    const acquiring = bulkhead.acquire(request);
    const permit = acquiring instanceof Promise ? await acquiring : acquiring;
    if (permit !== 'acquired') return lookupFailed(lookup, rejectionFailure(permit));
    const acquiredAtMs = clock.monotonicMs();
    let admitted: Admitted | undefined;
    let outcome: LookupOutcome | undefined;
    let attempts = 0;
    try {
      const subject = { number, operation: lookup.operation };
      const consentId = tokens.consentIdOf?.(subject, request);
      const about = { event: 'lookup', lookup, number, request } as const;
      const admitting = admission.admit(
        consentId === undefined ? about : { ...about, consentId, isFurther: true },
      );
      const authorization = admitting instanceof Promise ? await admitting : admitting;
      if (authorization.kind === 'denied') return lookupFailed(lookup, authorization.failure);
      admitted = authorization;

      for (let isRetry = false; outcome === undefined; isRetry = true) {
        const issuing = tokens.acquire(subject, request, isRetry);
        const acquired = issuing instanceof Promise ? await issuing : issuing;
        const leftAtMs = clock.monotonicMs();
        if (acquired.kind === 'failed') {
          outcome = lookupFailed(lookup, acquired.failure);
        } else if (acquired.token.isExpired(leftAtMs)) {
          outcome = lookupFailed(lookup, STALE_TOKEN);
        } else {
          request.onLeaving?.(leftAtMs);
          const order = { lookup, number, token: acquired.token, isRetry };
          const exchanged = await operator.lookUp(order, request);
          attempts += exchanged.attempts;
          const { judged } = exchanged;
          if (judged.kind === 'answered') {
            const replyId = `${this.#id}-${(this.#replies += 1)}`;
            const facts = timed(judged.facts, leftAtMs, true, identity, clock, replyId);
            outcome = { kind: 'facts', facts, closed: judged.closed };
          } else if (!exchanged.mayRetryWithNewToken) {
            outcome = lookupFailed(lookup, judged.failure);
          }
        }
      }
      return outcome;
    } finally {
      try {
        const recording = admitted?.ended(endingOf(outcome, attempts));
        if (recording !== undefined) await recording;
      } finally {
        bulkhead.release(acquiredAtMs);
      }
    }
  }
}

function endingOf(outcome: LookupOutcome | undefined, attempts: number): Ending {
  switch (outcome?.kind) {
    case undefined:
      return BROKEN;
    case 'facts':
      return { outcome: 'answered', attempts };
    case 'failed':
      return { outcome: outcome.failed.failure.code, attempts };
  }
}

/** A token that is over before it can be used could only be refused. */
const STALE_TOKEN: LookupFailure = { code: 'OPERATOR_INVALID_REPLY', reach: 'number' };

/** So many wait for the call about one number; more would wait longer than they may. */
const QUEUE = 100;

/**
 * One lookup about a number at a time, for an operator that answers 409 to a second call. Waiting for it takes no
 * permit, so that one number keeps no other from being asked about.
 */
export class OneLookupPerNumber implements DirectRoute {
  readonly #route: DirectRoute;
  readonly #clock: Clock;
  readonly #bulkheads = new Map<PhoneNumber, Bulkhead>();

  constructor(route: DirectRoute, clock: Clock) {
    this.#route = route;
    this.#clock = clock;
  }

  async lookUp(lookup: Lookup, about: NumberOfRequest): Promise<LookupOutcome> {
    const { number, request } = about;
    let bulkhead = this.#bulkheads.get(number);
    if (bulkhead === undefined) {
      bulkhead = new Bulkhead({ permits: 1, queue: QUEUE }, this.#clock);
      this.#bulkheads.set(number, bulkhead);
    }
    const permit = await bulkhead.acquire(request);
    if (permit !== 'acquired') return lookupFailed(lookup, rejectionFailure(permit));
    const acquiredAtMs = this.#clock.monotonicMs();
    try {
      return await this.#route.lookUp(lookup, about);
    } finally {
      bulkhead.release(acquiredAtMs);
      if (bulkhead.load.underWay === 0) this.#bulkheads.delete(number);
    }
  }
}
