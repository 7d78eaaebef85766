import type { TimedFact } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import { SharedWork } from '../http/urgency.ts';
import type { LookupAuthorizer } from './lookupAuthorizer.ts';
import type { FactCache } from './factCache.ts';
import {
  lookupFailed,
  OUT_OF_TIME,
  type ConsentReading,
  type LookupSession,
  type LookupOutcome,
  type LookupRequest,
  type LookupRoute,
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
  readonly #route: LookupRoute;
  readonly #parts: SharedLookupsParts;
  /** Under way, and those whose facts are just being kept. */
  readonly #shared = new Map<PhoneNumber, SharedLookup[]>();

  constructor(route: LookupRoute, parts: SharedLookupsParts) {
    this.#route = route;
    this.#parts = parts;
  }

  lookUp(lookup: Lookup, session: LookupSession): Promise<LookupOutcome> {
    const { request } = session;
    const late = lookupFailed(lookup, OUT_OF_TIME);
    if (request.signal.aborted) return Promise.resolve(late);
    const joined = this.#findShared(lookup, session);
    return joined === undefined
      ? this.#start(lookup, session).outcomeFor(request, late)
      : this.#join(joined, session, late);
  }

  consent(number: PhoneNumber, request: LookupRequest): Promise<ConsentReading> {
    return this.#route.consent(number, request);
  }

  /** Facts are kept and lines written, although no request waits any more. */
  async close(): Promise<void> {
    await Promise.all([...this.#shared.values()].flat().flatMap(({ ended }) => ended ?? []));
    await this.#route.close();
  }

  #findShared(wanted: Lookup, { number, request }: LookupSession): SharedLookup | undefined {
    for (const shared of this.#shared.get(number) ?? []) {
      const { leftAtMs = Infinity } = shared;
      if (leftAtMs < request.cameInAtMs - this.#parts.keepMs) continue;
      if (shared.mayJoin(request) && isWorthWaitingFor(shared.lookup, wanted)) return shared;
    }
    return undefined;
  }

  #start(lookup: Lookup, session: LookupSession): SharedLookup {
    const { number } = session;
    const shared = new SharedLookup(lookup, session, this.#route);
    const others = this.#shared.get(number);
    if (others === undefined) this.#shared.set(number, [shared]);
    else others.push(shared);
    const forget = (): void => this.#forget(number, shared);
    // Until its facts are kept a lookup can be joined: no request falls in between.
    shared.ended =
      this.#parts.keepMs === 0
        ? shared.outcome.then(forget, forget)
        : shared.outcome.then((outcome) => this.#keep(outcome, session)).then(forget, forget);
    return shared;
  }

  /** In place: an old table of the Map's would hold another list, with what is in it, until the next full collection. */
  #forget(number: PhoneNumber, shared: SharedLookup): void {
    const others = this.#shared.get(number) ?? [];
    others.splice(others.indexOf(shared), 1);
    if (others.length === 0) this.#shared.delete(number);
  }

  /** What cannot be kept is looked up again. */
  async #keep(outcome: LookupOutcome, { number, request }: LookupSession): Promise<void> {
    const { factCache } = this.#parts;
    await Promise.allSettled(factsOf(outcome).map((fact) => factCache.keep(request, number, fact)));
  }

  /** A request that shares an answer, or a failure that speaks for the number, has its own audit line. */
  async #join(
    shared: SharedLookup,
    { number, request }: LookupSession,
    late: LookupOutcome,
  ): Promise<LookupOutcome> {
    const { lookup } = shared;
    const outcome = await shared.join(request, late);
    if (outcome === late || !isAudited(outcome)) return outcome;
    const failure = await this.#parts.admission.heard({ how: 'shared', lookup, number, request });
    return failure === undefined ? outcome : lookupFailed(lookup, failure);
  }
}

/** One lookup, and the requests that wait for it: traced to the first that wants it, but not ended with it. */
class SharedLookup extends SharedWork<LookupOutcome> implements LookupRequest {
  readonly lookup: Lookup;
  readonly caller: LookupRequest['caller'];
  readonly purpose: string;
  readonly cameInAtMs: number;
  /** When it left, on the monotonic clock. */
  leftAtMs: number | undefined;
  readonly outcome: Promise<LookupOutcome>;
  /** Once it is over and its facts are kept. */
  ended: Promise<void> | undefined;
  /** A request that was told what it brought, and still needs more, looks further. */
  readonly #joined: LookupRequest[];

  constructor(lookup: Lookup, session: LookupSession, route: LookupRoute) {
    const { request } = session;
    super(request);
    this.lookup = lookup;
    this.caller = request.caller;
    this.purpose = request.purpose;
    this.cameInAtMs = request.cameInAtMs;
    this.#joined = [request];
    this.outcome = route.lookUp(lookup, { ...session, request: this });
  }

  onLeaving(leftAtMs: number): void {
    this.leftAtMs ??= leftAtMs;
  }

  /** Whether it is the same caller's, the last request has not given it up, and this one did not hear it already. */
  mayJoin(request: LookupRequest): boolean {
    const isOfCaller = this.caller.key === request.caller.key && this.purpose === request.purpose;
    return isOfCaller && !this.signal.aborted && !this.#joined.includes(request);
  }

  /** What it brings to a request that joins it; `late` when the request ends first. */
  join(request: LookupRequest, late: LookupOutcome): Promise<LookupOutcome> {
    this.#joined.push(request);
    return this.outcomeFor(request, late);
  }
}

function factsOf(outcome: LookupOutcome): readonly TimedFact[] {
  switch (outcome.kind) {
    case 'facts':
      return outcome.facts;
    case 'failed':
      return [];
  }
}

function isAudited(outcome: LookupOutcome): boolean {
  switch (outcome.kind) {
    case 'facts':
      return true;
    case 'failed':
      return outcome.failed.failure.reach === 'number';
  }
}
