import { lookupOf, unknownFacts, type TimedFact } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import { operatorNameOf } from '../operator/operatorSettings.ts';
import { unlessLost } from '../sharedState/redis.ts';
import type { LookupAuthorizer } from './lookupAuthorizer.ts';
import { hashedCallerKey, type FactCache, type RecalledFacts } from './factCache.ts';
import {
  lookupFailed,
  type ConsentReading,
  type LookupSession,
  type LookupOutcome,
  type LookupRequest,
  type LookupRoute,
} from './lookupRoute.ts';
import { closesMore, type Offer } from './planner.ts';

export interface KeptAnswersParts {
  /** By caller and number, the facts that are being marked as heard; shared by all operators. */
  readonly marking?: Map<string, Promise<unknown>>;
  readonly factCache: Pick<FactCache, 'recall' | 'keep'>;
  readonly admission: Pick<LookupAuthorizer, 'heard'>;
  readonly offer: Offer;
}

/** Questions that kept facts answer take no lookup and no prompt. A store that is not available counts as empty. */
export class KeptAnswers implements LookupRoute {
  readonly #route: LookupRoute;
  readonly #parts: KeptAnswersParts;
  readonly #marking: Map<string, Promise<unknown>>;

  constructor(route: LookupRoute, parts: KeptAnswersParts) {
    this.#route = route;
    this.#parts = parts;
    this.#marking = parts.marking ?? new Map();
  }

  async lookUp(lookup: Lookup, session: LookupSession): Promise<LookupOutcome> {
    const { facts, besides, recalledAtMs } = await this.#recall(session);
    // Facts that answer nothing are not returned: the audit log would say that they were.
    if (!closesMore({ ...session, besides }, this.#parts.offer, facts)) {
      const outcome = await this.#route.lookUp(lookup, session, recalledAtMs);
      if (outcome.kind === 'failed') return outcome;
      // No `false` may pass over a change that is known, whether or not that answers anything.
      return { ...outcome, besides: facts.concat(besides, outcome.besides ?? []) };
    }
    const failure = await this.#heard(facts, session);
    return failure === undefined
      ? { kind: 'facts', facts, besides }
      : lookupFailed(lookup, failure);
  }

  consent(number: PhoneNumber, request: LookupRequest): Promise<ConsentReading> {
    return this.#route.consent(number, request);
  }

  /** Facts that cannot be marked are heard again. */
  told(
    facts: readonly TimedFact[],
    { number, request }: Pick<LookupSession, 'number' | 'request'>,
  ): void {
    const { factCache } = this.#parts;
    const marking = this.#marking;
    const unheard = facts.filter(({ isHeard }) => !isHeard);
    if (unheard.length === 0) return;
    const key = hashedCallerKey(request, number);
    const noting = Promise.allSettled([
      marking.get(key),
      ...unheard.map((fact) => factCache.keep(request, number, { ...fact, isHeard: true })),
    ]);
    marking.set(key, noting);
    void noting.then(() => marking.get(key) === noting && marking.delete(key));
  }

  async close(): Promise<void> {
    await Promise.all(this.#marking.values());
    await this.#route.close();
  }

  async #recall({ number, request, facts: known }: LookupSession): Promise<RecalledFacts> {
    // Facts that were heard before are marked by then.
    const marked = this.#marking.get(hashedCallerKey(request, number)) ?? Promise.resolve();
    const recalled = marked
      .then(() => this.#parts.factCache.recall(request, number, request.cameInAtMs))
      .catch(unlessLost);
    const found = await request.signal.unlessAborted(recalled);
    if (found === undefined) return NOT_RECALLED;
    return { ...found, facts: unknownFacts(found.facts, known) };
  }

  async #heard(
    facts: readonly TimedFact[],
    { number, request }: LookupSession,
  ): Promise<LookupFailure | undefined> {
    const failures = await Promise.all(
      facts.map(async (fact) =>
        this.#parts.admission.heard({
          how: 'kept',
          lookup: lookupOf(fact),
          number,
          request,
          operator: operatorNameOf(fact.toldBy),
        }),
      ),
    );
    return failures.find((failure) => failure !== undefined);
  }
}

const NOT_RECALLED: RecalledFacts = { facts: [], besides: [], recalledAtMs: -Infinity };

/** Behind kept facts, while the operator is not known yet. */
export const NOBODY: LookupRoute = {
  lookUp: (lookup) =>
    Promise.resolve(lookupFailed(lookup, { code: 'NUMBER_NOT_SERVED', reach: 'number' })),
  consent: () => Promise.resolve({ kind: 'read', status: undefined }),
  close: () => Promise.resolve(),
};
