import { lookupOf, unknownFacts, type TimedFact } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import { AbortListeners } from '../http/abortListeners.ts';
import { unlessLost } from '../sharedState/sharedStateLost.ts';
import type { LookupAuthorizer } from './lookupAuthorizer.ts';
import { askerKey } from './askerKey.ts';
import type { FactCache, CachedFacts } from './factCache.ts';
import {
  lookupFailed,
  type ConsentReading,
  type Inquiry,
  type LookupOutcome,
  type LookupRequest,
  type LookupRoute,
} from './lookupRoute.ts';
import type { Offer } from './plan.ts';
import { answerMore } from './planner.ts';

/** What answering from kept facts takes. */
export interface KeptAnswersParts {
  readonly factCache: Pick<FactCache, 'recall' | 'keep'>;
  readonly admission: Pick<LookupAuthorizer, 'heard'>;
  readonly offer: Offer;
}

/**
 * Stands before a route, in either flow: what kept facts answer is neither looked up nor prompted for.
 * A store that cannot be asked counts as empty.
 */
export class KeptAnswers implements LookupRoute {
  readonly #route: LookupRoute;
  readonly #parts: KeptAnswersParts;
  readonly #abortListeners = new AbortListeners();
  /** By asker and number. */
  readonly #marking = new Map<string, Promise<unknown>>();

  constructor(route: LookupRoute, parts: KeptAnswersParts) {
    this.#route = route;
    this.#parts = parts;
  }

  async lookUp(lookup: Lookup, inquiry: Inquiry): Promise<LookupOutcome> {
    const { facts, besides } = await this.#recall(inquiry);
    // What answers nothing is not told either: the audit log would say that it was heard.
    if (!answerMore(facts, { ...inquiry, besides }, this.#parts.offer)) {
      const outcome = await this.#route.lookUp(lookup, inquiry);
      return beside(facts.concat(besides), outcome);
    }
    const failure = await this.#heard(facts, inquiry);
    return failure === undefined
      ? { kind: 'facts', facts, besides }
      : lookupFailed(lookup, failure);
  }

  consent(number: PhoneNumber, request: LookupRequest): Promise<ConsentReading> {
    return this.#route.consent(number, request);
  }

  /** What cannot be noted is heard again. */
  told(
    facts: readonly TimedFact[],
    { number, request }: Pick<Inquiry, 'number' | 'request'>,
  ): void {
    const { factCache } = this.#parts;
    const unheard = facts.filter(({ isHeard }) => !isHeard);
    if (unheard.length === 0) return;
    const key = askerKey(request, number);
    const marking = Promise.allSettled([
      this.#marking.get(key),
      ...unheard.map((fact) => factCache.keep(request, number, { ...fact, isHeard: true })),
    ]);
    this.#marking.set(key, marking);
    void marking.then(() => this.#marking.get(key) === marking && this.#marking.delete(key));
  }

  async close(): Promise<void> {
    await Promise.all(this.#marking.values());
    await this.#route.close();
  }

  async #recall({ number, request, facts: known }: Inquiry): Promise<CachedFacts> {
    // What was heard before is noted by then.
    const marked = this.#marking.get(askerKey(request, number)) ?? Promise.resolve();
    const recalled = marked
      .then(() => this.#parts.factCache.recall(request, number, request.cameInAtMs))
      .catch(unlessLost);
    const { facts = [], besides = [] } =
      (await this.#abortListeners.unlessAborted(recalled, request.signal)) ?? {};
    return { facts: unknownFacts(facts, known), besides };
  }

  /** One line for each fact: a failure when one of them cannot be written. */
  async #heard(
    facts: readonly TimedFact[],
    { number, request }: Inquiry,
  ): Promise<LookupFailure | undefined> {
    const failures = await Promise.all(
      facts.map(async (fact) =>
        this.#parts.admission.heard({ how: 'kept', lookup: lookupOf(fact), number, request }),
      ),
    );
    return failures.find((failure) => failure !== undefined);
  }
}

/** No `false` may pass over a change that is known, whether or not that answers anything. Pure. */
function beside(kept: readonly TimedFact[], outcome: LookupOutcome): LookupOutcome {
  switch (outcome.kind) {
    case 'facts':
      return { ...outcome, besides: kept.concat(outcome.besides ?? []) };
    case 'failed':
      return outcome;
  }
}
