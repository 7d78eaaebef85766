import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import { SharedWork } from '../http/urgency.ts';
import type { LookupAuthorizer } from './lookupAuthorizer.ts';
import type { FactCache } from './factCache.ts';
import {
  lookupFailed,
  OUT_OF_TIME,
  type ConsentReading,
  type DirectRoute,
  type LookupOutcome,
  type LookupRequest,
  type LookupRoute,
  type NumberOfRequest,
} from './lookupRoute.ts';
import { isWorthWaitingFor } from './planner.ts';

export interface SharedLookupsParts {
  readonly factCache: Pick<FactCache, 'keep'>;
  /** KEEP_FACTS_SECONDS, in milliseconds. */
  readonly keepMs: number;
  readonly admission: Pick<LookupAuthorizer, 'heard'>;
}

/**
 * Stands before the direct route: requests of one caller about one number share a lookup that is under
 * way, and its facts are kept for the requests after them.
 *
 * A request joins a lookup that is likely to answer it and has not left, or left no longer than `keepMs`
 * before the request came in. A shared lookup belongs to all its waiters: it ends when the last one of
 * them hangs up or runs out of time. In the 3-legged flow consents are shared instead.
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
    const joined = others?.find((shared) => this.#mayJoin(shared, lookup, request));
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

  /** No owner is asked for consent. */
  consent(): Promise<ConsentReading> {
    return Promise.resolve({ kind: 'read', status: { state: 'NOT_NEEDED' } });
  }

  /** Facts are kept and lines written, although no request waits any more. */
  async close(): Promise<void> {
    await Promise.all([...this.#shared.values()].flat().flatMap(({ ended }) => ended ?? []));
  }

  /**
   * Whether it is the same caller's, likely to answer, and young enough, the last request has not given it up, and this
   * one, which still needs more, did not hear it already.
   */
  #mayJoin(shared: SharedLookup, wanted: Lookup, request: LookupRequest): boolean {
    const { caller, purpose, leftAtMs = Infinity, signal } = shared;
    return (
      caller.key === request.caller.key &&
      purpose === request.purpose &&
      leftAtMs >= request.cameInAtMs - this.#parts.keepMs &&
      !signal.aborted &&
      !shared.requests.includes(request) &&
      isWorthWaitingFor(shared.lookup, wanted)
    );
  }

  /** A request that shares an answer, or a failure that speaks for the number, has its own audit line. */
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

  /** Until its facts are kept a lookup can be joined: no request falls in between. What cannot be kept is looked up again. */
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

  /** In place: an old table of the Map's would hold another list, with what is in it, until the next full collection. */
  #forget(number: PhoneNumber, shared: SharedLookup): undefined {
    const others = this.#shared.get(number) ?? [];
    others.splice(others.indexOf(shared), 1);
    if (others.length === 0) this.#shared.delete(number);
  }
}

/** One lookup, as the request that it is made for. */
class SharedLookup extends SharedWork<LookupOutcome> implements LookupRequest {
  readonly lookup: Lookup;
  readonly caller: LookupRequest['caller'];
  readonly purpose: string;
  readonly cameInAtMs: number;
  /** All that ever joined it. */
  readonly requests: LookupRequest[];
  /** On the monotonic clock. */
  leftAtMs: number | undefined;
  /** Once it is over and its facts are kept. */
  ended: Promise<void> | undefined;

  constructor(lookup: Lookup, first: LookupRequest) {
    super(first);
    this.lookup = lookup;
    this.caller = first.caller;
    this.purpose = first.purpose;
    this.cameInAtMs = first.cameInAtMs;
    this.requests = [first];
    this.leftAtMs = undefined;
    this.ended = undefined;
  }

  onLeaving(leftAtMs: number): void {
    this.leftAtMs ??= leftAtMs;
  }
}
