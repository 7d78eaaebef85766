import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import { SharedWork } from '../system/urgency.ts';
import type { FactCache } from './factCache.ts';
import type { LookupAuthorizer } from './lookupAuthorizer.ts';
import {
  lookupFailed,
  BUSY,
  DEADLINE_EXCEEDED,
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
  readonly admission: Pick<LookupAuthorizer, 'admit' | 'delivered'>;
}

/**
 * Requests of one caller about one number share a lookup that is likely to answer them, until it leaves or for `keepMs`
 * after that; its facts are kept for later requests. It ends when its last waiter hangs up or reaches its deadline. In
 * the 3-legged flow consents are shared instead.
 */
export class SharedLookups implements LookupRoute {
  readonly #route: DirectRoute;
  readonly #parts: SharedLookupsParts;
  /** Lookups under way, and those whose facts are just being kept. */
  readonly #shared = new Map<PhoneNumber, SharedLookup[]>();

  constructor(route: DirectRoute, parts: SharedLookupsParts) {
    this.#route = route;
    this.#parts = parts;
  }

  lookUp(lookup: Lookup, { number, request }: NumberOfRequest): Promise<LookupOutcome> {
    if (request.signal.aborted) return Promise.resolve(lookupFailed(lookup, BUSY));
    const others = this.#shared.get(number);
    const joined = others && this.#joinable(others, lookup, request);
    if (joined !== undefined) return this.#join(joined, request);
    const shared = new SharedLookup(lookup, number, request);
    if (others === undefined) this.#shared.set(number, [shared]);
    else others.push(shared);
    const looking = this.#route.lookUp(lookup, { number, request: shared });
    shared.ended = looking.then(
      (outcome) => this.#ended(shared, outcome),
      () => this.#ended(shared, looking),
    );
    return shared.outcomeFor(request);
  }

  /** Counts against the quota of numbers, and is audited: it reveals which operator has the number. */
  async consent(number: PhoneNumber, request: LookupRequest): Promise<ConsentReading> {
    const { admission } = this.#parts;
    const admitted = await admission.admit({ event: 'consent-status', number, request });
    return admitted.kind === 'denied'
      ? { kind: 'failed', failure: admitted.failure }
      : { kind: 'read', status: { state: 'NOT_NEEDED' } };
  }

  /** Facts are kept and lines written, although no request waits any longer. */
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
  async #join(shared: SharedLookup, request: LookupRequest): Promise<LookupOutcome> {
    const { lookup, number, late } = shared;
    shared.requests.push(request);
    const outcome = await shared.outcomeFor(request);
    const isAudited = outcome.kind === 'facts' || outcome.failed.failure.reach === 'number';
    // The lookup may have begun since the request ended.
    if (outcome === late || outcome === shared.late || !isAudited) return outcome;
    const failure = await this.#parts.admission.delivered({
      how: 'shared',
      lookup,
      number,
      request,
    });
    return failure === undefined ? outcome : lookupFailed(lookup, failure);
  }

  /** A lookup can be joined until its facts are kept. Otherwise a request in between would look them up again. */
  #ended(
    shared: SharedLookup,
    outcome: LookupOutcome | Promise<LookupOutcome>,
  ): Promise<void> | undefined {
    shared.settle(outcome);
    const { factCache, keepMs } = this.#parts;
    const isKept = keepMs > 0 && 'kind' in outcome && outcome.kind === 'facts';
    if (!isKept) return this.#forget(shared);
    const keeping = outcome.facts.map((fact) => factCache.keep(shared, shared.number, fact));
    return Promise.allSettled(keeping).then(() => this.#forget(shared));
  }

  /** Replaced in place: the Map's old table would hold another list until the next full collection. */
  #forget(shared: SharedLookup): undefined {
    const others = this.#shared.get(shared.number) ?? [];
    others.splice(others.indexOf(shared), 1);
    if (others.length === 0) this.#shared.delete(shared.number);
  }
}

/** A lookup that takes the place of the request that it is made for. */
class SharedLookup extends SharedWork<LookupOutcome> implements LookupRequest {
  readonly lookup: Lookup;
  readonly number: PhoneNumber;
  readonly caller: LookupRequest['caller'];
  readonly purpose: LookupRequest['purpose'];
  readonly cameInAtMs: number;
  /** All requests that ever joined it. */
  readonly requests: LookupRequest[];
  /** On the monotonic clock. */
  leftAtMs: number | undefined;
  /** Resolves once the lookup is over and its facts are kept. */
  ended: Promise<void> | undefined;

  constructor(lookup: Lookup, number: PhoneNumber, first: LookupRequest) {
    super(first, lookupFailed(lookup, BUSY));
    this.lookup = lookup;
    this.number = number;
    this.caller = first.caller;
    this.purpose = first.purpose;
    this.cameInAtMs = first.cameInAtMs;
    this.requests = [first];
  }

  onBegun(): void {
    this.late = lookupFailed(this.lookup, DEADLINE_EXCEEDED);
    this.requests[0]?.onBegun?.();
  }

  onLeaving(leftAtMs: number): void {
    this.leftAtMs ??= leftAtMs;
  }

  onLookupCounted(by: 1 | -1): void {
    this.requests[0]?.onLookupCounted?.(by);
  }
}
