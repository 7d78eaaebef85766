import { randomUUID } from 'node:crypto';
import type { Clock } from '../system/clock.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup, Operation } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { Fact } from '../domain/fact.ts';
import { Bulkhead } from '../http/resilience/bulkhead.ts';
import type { Outcome } from '../http/resilience/guardedEndpoint.ts';
import type { Operator } from '../operator/operator.ts';
import type { Judgement } from '../operator/responses.ts';
import type { AccessToken, TokenSubject } from '../tokens/accessToken.ts';
import type { Acquired } from '../tokens/tokenManager.ts';
import {
  lookupFailed,
  rejectionFailure,
  timed,
  wordOf,
  type DirectRoute,
  type LookupOutcome,
  type LookupRequest,
  type NumberOfRequest,
  OUT_OF_TIME,
  type ConsentReading,
  type LookupRoute,
} from './lookupRoute.ts';
import { BROKEN, type Admitted, type LookupAuthorizer } from './lookupAuthorizer.ts';
import { SharedWork } from '../http/urgency.ts';
import type { FactCache } from './factCache.ts';
import { isWorthWaitingFor } from './planner.ts';

export interface SharedLookupsParts {
  readonly factCache: Pick<FactCache, 'keep'>;
  /** KEEP_FACTS_SECONDS, in milliseconds. */
  readonly keepMs: number;
  readonly admission: Pick<LookupAuthorizer, 'admit' | 'heard'>;
}

/**
 * Requests of one caller about one number share a lookup that is likely to answer them, until it leaves or for `keepMs`
 * after; its facts are kept for later ones. It ends when its last waiter hangs up or runs out of time. In the 3-legged
 * flow consents are shared instead.
 */
export class SharedLookups implements LookupRoute {
  readonly #route: DirectRoute;
  readonly #parts: SharedLookupsParts;
  /** Under way, and those whose facts are just being kept. */
  readonly #shared = new Map<PhoneNumber, SharedLookup[]>();

  constructor(route: DirectRoute, parts: SharedLookupsParts) {
    this.#route = route;
    this.#parts = parts;
  }

  lookUp(lookup: Lookup, { number, request }: NumberOfRequest): Promise<LookupOutcome> {
    const late = lookupFailed(lookup, OUT_OF_TIME);
    if (request.signal.aborted) return Promise.resolve(late);
    const others = this.#shared.get(number);
    const joined = others && this.#joinable(others, lookup, request);
    if (joined !== undefined) return this.#join(joined, { number, request }, late);
    const shared = new SharedLookup(lookup, request);
    if (others === undefined) this.#shared.set(number, [shared]);
    else others.push(shared);
    const looking = this.#route.lookUp(lookup, { number, request: shared });
    shared.ended = looking.then(
      (outcome) => this.#ended(number, shared, outcome),
      () => this.#ended(number, shared, looking),
    );
    return shared.outcomeFor(request, late);
  }

  /** Counts against the quota of numbers, and is audited: it says which operator has the number. */
  async consent(number: PhoneNumber, request: LookupRequest): Promise<ConsentReading> {
    const { admission } = this.#parts;
    const admitted = await admission.admit({ event: 'consent-status', number, request });
    return admitted.kind === 'denied'
      ? { kind: 'failed', failure: admitted.failure }
      : { kind: 'read', status: { state: 'NOT_NEEDED' } };
  }

  /** Facts are kept and lines written, although no request waits any more. */
  async close(): Promise<void> {
    await Promise.all([...this.#shared.values()].flat().flatMap(({ ended }) => ended ?? []));
  }

  /** A request joins a lookup once, while it still needs more. */
  #joinable(
    others: readonly SharedLookup[],
    wanted: Lookup,
    request: LookupRequest,
  ): SharedLookup | undefined {
    return others.find(
      ({ lookup, caller, purpose, leftAtMs = Infinity, signal, requests }) =>
        caller.key === request.caller.key &&
        purpose.key === request.purpose.key &&
        leftAtMs >= request.cameInAtMs - this.#parts.keepMs &&
        !signal.aborted &&
        !requests.includes(request) &&
        isWorthWaitingFor(lookup, wanted),
    );
  }

  /** A request that shares an answer, or a failure for the number, has its own audit line. */
  async #join(
    shared: SharedLookup,
    { number, request }: NumberOfRequest,
    late: LookupOutcome,
  ): Promise<LookupOutcome> {
    const { lookup } = shared;
    shared.requests.push(request);
    const outcome = await shared.outcomeFor(request, late);
    const isAudited = outcome.kind === 'facts' || outcome.failed.failure.reach === 'number';
    if (outcome === late || !isAudited) return outcome;
    const failure = await this.#parts.admission.heard({ how: 'shared', lookup, number, request });
    return failure === undefined ? outcome : lookupFailed(lookup, failure);
  }

  /** It can be joined until its facts are kept, so no request falls in between. Facts that are not kept are looked up again. */
  #ended(
    number: PhoneNumber,
    shared: SharedLookup,
    outcome: LookupOutcome | Promise<LookupOutcome>,
  ): Promise<void> | undefined {
    shared.settle(outcome);
    const { factCache, keepMs } = this.#parts;
    const isKept = keepMs > 0 && 'kind' in outcome && outcome.kind === 'facts';
    if (!isKept) return this.#forget(number, shared);
    const keeping = outcome.facts.map((fact) => factCache.keep(shared, number, fact));
    return Promise.allSettled(keeping).then(() => this.#forget(number, shared));
  }

  /** In place: the Map's old table would hold another list until the next full collection. */
  #forget(number: PhoneNumber, shared: SharedLookup): undefined {
    const others = this.#shared.get(number) ?? [];
    others.splice(others.indexOf(shared), 1);
    if (others.length === 0) this.#shared.delete(number);
  }
}

/** A lookup as the request that it is made for. */
class SharedLookup extends SharedWork<LookupOutcome> implements LookupRequest {
  readonly lookup: Lookup;
  readonly caller: LookupRequest['caller'];
  readonly purpose: LookupRequest['purpose'];
  readonly cameInAtMs: number;
  /** All that ever joined it. */
  readonly requests: LookupRequest[];
  /** On the monotonic clock. */
  leftAtMs: number | undefined;
  /** Resolves once it is over and its facts are kept. */
  ended: Promise<void> | undefined;

  constructor(lookup: Lookup, first: LookupRequest) {
    super(first);
    this.lookup = lookup;
    this.caller = first.caller;
    this.purpose = first.purpose;
    this.cameInAtMs = first.cameInAtMs;
    this.requests = [first];
  }

  onLeaving(leftAtMs: number): void {
    this.leftAtMs ??= leftAtMs;
  }
}

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
  /** Names replies, with their number: a UUID for each would cost more. */
  readonly #id = randomUUID();
  #replies = 0;

  constructor(parts: DirectParts) {
    this.#parts = parts;
  }

  /** Awaits only promises: with a thousand numbers each await counts. */
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
      const subject = { number, operation: lookup.operation, purpose: request.purpose.word };
      const consentId = tokens.consentIdOf?.(subject, request);
      const about = { event: 'lookup', lookup, number, request } as const;
      const admitting = admission.admit(
        consentId === undefined ? about : { ...about, consentId, isFurther: true },
      );
      const authorization = admitting instanceof Promise ? await admitting : admitting;
      if (authorization.kind === 'denied') return lookupFailed(lookup, authorization.failure);
      admitted = authorization;

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
            // Other lookups may wait for its end.
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
        const ending = outcome === undefined ? BROKEN : { outcome: wordOf(outcome), attempts };
        const recording = admitted?.ended(ending);
        if (recording !== undefined) await recording;
      } finally {
        bulkhead.release(acquiredAtMs);
      }
    }
  }
}

/** It could only be refused. */
const STALE_TOKEN: LookupFailure = { code: 'OPERATOR_INVALID_REPLY', reach: 'number' };

/** How many wait for the call about one number; more would wait past their deadlines. */
const QUEUE = 100;

/** For an operator that answers 409 to a second call about a number. Waiting takes no permit, and holds up no other number. */
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
