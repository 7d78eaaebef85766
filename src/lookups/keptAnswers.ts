import { lookupOf, unknownFacts, type TimedFact } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import { operatorNameOf } from '../operator/operatorSettings.ts';
import { unlessLost } from '../sharedState/redis.ts';
import type { CachedAnswer, LookupAuthorizer } from './lookupAuthorizer.ts';
import { hashedCallerKey, type FactCache, type RecalledFacts } from './factCache.ts';
import {
  lookupFailed,
  type ConsentReading,
  type LookupSession,
  type LookupOutcome,
  type LookupRequest,
  type LookupRoute,
  type NumberOfRequest,
} from './lookupRoute.ts';
import { closesMore, type Offer } from './planner.ts';

export interface KeptFactsParts {
  /** The facts that are being marked as delivered, by caller and number; shared by all operators. */
  readonly marking?: Map<string, Promise<unknown>>;
  readonly factCache: Pick<FactCache, 'recall' | 'keep'>;
  readonly admission: Pick<LookupAuthorizer, 'delivered'>;
  readonly offer: Offer;
}

/** Facts that answer nothing are not returned as answers: otherwise the audit log would list them as answers. */
export type Recalled =
  | ({ readonly kind: 'facts' } & Pick<RecalledFacts, 'facts' | 'unrequested'>)
  | ({ readonly kind: 'nothing' } & Omit<RecalledFacts, 'facts'>)
  | { readonly kind: 'failed'; readonly failure: LookupFailure };

/** Facts of this caller and purpose that are recent enough. A store that is not available counts as empty. */
export class KeptFacts {
  readonly offer: Offer;
  readonly #parts: KeptFactsParts;
  readonly #marking: Map<string, Promise<unknown>>;

  constructor(parts: KeptFactsParts) {
    this.offer = parts.offer;
    this.#parts = parts;
    this.#marking = parts.marking ?? new Map();
  }

  /** Facts that answer an open question of the session are audited. */
  async recall(session: LookupSession): Promise<Recalled> {
    const { number, request } = session;
    const { factCache, admission } = this.#parts;
    // By then, facts that were delivered earlier are marked.
    const marked = this.#marking.get(hashedCallerKey(request, number)) ?? Promise.resolve();
    const recalling = marked
      .then(() => factCache.recall(request, number, request.cameInAtMs))
      .catch(unlessLost);
    const recalled = (await request.signal.unlessAborted(recalling)) ?? NOT_RECALLED;
    const { unrequested, recalledAtMs } = recalled;
    const facts = unknownFacts(recalled.facts, session.facts);
    // No `false` may ignore a known change, whether or not that change answers anything.
    if (facts.length === 0 || !closesMore({ ...session, unrequested }, this.offer, facts)) {
      return { kind: 'nothing', unrequested: facts.concat(unrequested), recalledAtMs };
    }
    const failures = await Promise.all(
      facts.map(async (fact) =>
        admission.delivered({
          ...cachedFrom('kept', lookupOf(fact), fact.toldBy),
          number,
          request,
        }),
      ),
    );
    const failure = failures.find((one) => one !== undefined);
    return failure === undefined
      ? { kind: 'facts', facts, unrequested }
      : { kind: 'failed', failure };
  }

  /** Facts that cannot be marked are delivered again. */
  delivered(facts: readonly TimedFact[], { number, request }: NumberOfRequest): void {
    const { factCache } = this.#parts;
    const marking = this.#marking;
    const undelivered = facts.filter(({ isHeard }) => !isHeard);
    if (undelivered.length === 0) return;
    const key = hashedCallerKey(request, number);
    const noting = Promise.allSettled([
      marking.get(key),
      ...undelivered.map((fact) => factCache.keep(request, number, { ...fact, isHeard: true })),
    ]);
    marking.set(key, noting);
    void noting.then(() => marking.get(key) === noting && marking.delete(key));
  }

  async close(): Promise<void> {
    await Promise.all(this.#marking.values());
  }
}

/** @param operator the identity of the operator of the lookup */
export function cachedFrom(
  how: CachedAnswer['how'],
  lookup: Lookup,
  operator: string,
  consentId?: string,
) {
  const cached = { how, lookup, operator: operatorNameOf(operator) };
  return consentId === undefined ? cached : { ...cached, consentId };
}

const NOT_RECALLED: RecalledFacts = { facts: [], unrequested: [], recalledAtMs: -Infinity };

/** Questions that kept facts answer take no lookup and no prompt. */
export class KeptAnswers extends KeptFacts implements LookupRoute {
  readonly #route: LookupRoute;

  constructor(route: LookupRoute, parts: KeptFactsParts) {
    super(parts);
    this.#route = route;
  }

  async lookUp(lookup: Lookup, session: LookupSession): Promise<LookupOutcome> {
    const refused = this.#route.refusal?.(session);
    if (refused !== undefined) return lookupFailed(lookup, refused);
    const recalled = await this.recall(session);
    switch (recalled.kind) {
      case 'facts':
        return recalled;
      case 'failed':
        return lookupFailed(lookup, recalled.failure);
      case 'nothing': {
        const outcome = await this.#route.lookUp(lookup, session, recalled.recalledAtMs);
        if (outcome.kind === 'failed') return outcome;
        return { ...outcome, unrequested: recalled.unrequested.concat(outcome.unrequested ?? []) };
      }
    }
  }

  consent(number: PhoneNumber, request: LookupRequest): Promise<ConsentReading> {
    return this.#route.consent(number, request);
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#route.close();
  }
}
