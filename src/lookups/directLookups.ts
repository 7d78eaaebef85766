import { randomUUID } from 'node:crypto';
import type { Clock } from '../system/clock.ts';
import type { Lookup, Operation } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { Fact } from '../domain/fact.ts';
import type { Bulkhead } from '../resilience/bulkhead.ts';
import type { Outcome } from '../resilience/guardedEndpoint.ts';
import type { Operator } from '../operator/operator.ts';
import type { Judgement } from '../operator/responses.ts';
import type { AccessToken, TokenSubject } from '../tokens/accessToken.ts';
import type { Acquired } from '../tokens/tokenManager.ts';
import {
  lookupFailed,
  timed,
  outcomeCodeOf,
  type DirectRoute,
  type LookupOutcome,
  type LookupRequest,
  type NumberOfRequest,
} from './lookupRoute.ts';
import { BROKEN_ENDING, type Admitted, type LookupAuthorizer } from './lookupAuthorizer.ts';

export interface LookupTokens {
  /** Never rejects. */
  acquire(
    subject: TokenSubject,
    request: LookupRequest,
    earlier?: AccessToken,
  ): Promise<Acquired> | Acquired;
  consentIdOf?(subject: TokenSubject, request: LookupRequest): string | undefined;
}

export interface DirectParts {
  readonly tokens: LookupTokens;
  readonly operator: Pick<Operator, 'lookUp'>;
  readonly identity: string;
  readonly admission: Pick<LookupAuthorizer, 'admit'>;
  /** A token and its lookup share one permit; with separate queues tokens would expire while waiting. */
  readonly bulkheads: Readonly<Record<Operation, Bulkhead>>;
  readonly clock: Clock;
}

export class DirectLookups implements DirectRoute {
  readonly #parts: DirectParts;
  /** A prefix of the names of replies, which are numbered: a UUID for each would cost more. */
  readonly #id = randomUUID();
  #replies = 0;

  constructor(parts: DirectParts) {
    this.#parts = parts;
  }

  /** Awaits only promises: with a thousand numbers each await has a cost. */
  async lookUp(lookup: Lookup, { number, request }: NumberOfRequest): Promise<LookupOutcome> {
    const { tokens, operator, identity, admission, bulkheads, clock } = this.#parts;
    const bulkhead = bulkheads[lookup.operation];
    const acquiring = bulkhead.acquire(request);
    const permit = acquiring instanceof Promise ? await acquiring : acquiring;
    if (permit !== 'acquired') return lookupFailed(lookup, permit);
    const acquiredAtMs = clock.monotonicMs();
    let admitted: Admitted | undefined;
    let outcome: LookupOutcome | undefined;
    let attempts = 0;
    try {
      const subject = { number, operation: lookup.operation, purpose: request.purpose.word };
      const consentId = tokens.consentIdOf?.(subject, request);
      const about = { event: 'lookup', lookup, number, request } as const;
      const admitting = admission.admit(
        consentId === undefined ? about : { ...about, consentId, isFurther: true },
      );
      const authorization = admitting instanceof Promise ? await admitting : admitting;
      if (authorization.kind === 'denied') return lookupFailed(lookup, authorization.failure);
      admitted = authorization;
      request.onBegun?.();

      for (let earlier: AccessToken | undefined; outcome === undefined;) {
        const issuing = tokens.acquire(subject, request, earlier);
        const acquired = issuing instanceof Promise ? await issuing : issuing;
        const leftAtMs = clock.monotonicMs();
        if (acquired.kind === 'failed') {
          outcome = lookupFailed(lookup, acquired.failure);
        } else if (acquired.token.isExpired(leftAtMs)) {
          acquired.token.settled();
          outcome = lookupFailed(lookup, STALE_TOKEN);
        } else {
          request.onLeaving?.(leftAtMs);
          const { token } = acquired;
          const order = { lookup, number, token, isRetry: earlier !== undefined };
          earlier = token;
          let exchanged: Outcome<Judgement<Fact>>;
          try {
            exchanged = await operator.lookUp(order, request);
          } finally {
            // Other lookups may wait until the token is settled.
            token.settled();
          }
          attempts += exchanged.attempts;
          const { judged } = exchanged;
          if (judged.kind === 'answered') {
            const replyId = `${this.#id}-${(this.#replies += 1)}`;
            const facts = timed(judged.facts, leftAtMs, true, identity, clock, replyId);
            outcome = { kind: 'facts', facts, made: lookup, closed: judged.closed };
          } else if (!exchanged.mayRetryWithNewToken) {
            outcome = lookupFailed(lookup, judged.failure);
          }
        }
      }
      return outcome;
    } finally {
      try {
        const ending =
          outcome === undefined ? BROKEN_ENDING : { outcome: outcomeCodeOf(outcome), attempts };
        const recording = admitted?.ended(ending);
        if (recording !== undefined) await recording;
      } finally {
        bulkhead.release(acquiredAtMs);
      }
    }
  }
}

/** For a token that expired before the lookup left: the operator could only refuse it. */
const STALE_TOKEN: LookupFailure = { code: 'OPERATOR_INVALID_REPLY', reach: 'number' };
