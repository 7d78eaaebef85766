import { lookupOf, unknownFacts } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../errors.ts';
import { AbortListeners, type Abortable, type AnyAbortSignal } from '../http/abortListeners.ts';
import { unlessLost } from '../sharedState/sharedStateLost.ts';
import type { Admission } from './admission.ts';
import type { KeptFacts } from './keptFacts.ts';
import {
  lookupFailed,
  type ConsentReading,
  type Inquiry,
  type LookupOutcome,
  type LookupRequest,
  type LookupRoute,
  type TimedFact,
} from './lookupRoute.ts';
import type { Offer } from './plan.ts';
import { answerMore } from './planner.ts';

/** What answering from kept facts takes. */
export interface KeptAnswersParts {
  readonly keptFacts: Pick<KeptFacts, 'recall'>;
  readonly admission: Pick<Admission, 'heard'>;
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

  constructor(route: LookupRoute, parts: KeptAnswersParts) {
    this.#route = route;
    this.#parts = parts;
  }

  async lookUp(lookup: Lookup, inquiry: Inquiry): Promise<LookupOutcome> {
    const facts = await this.#recall(inquiry);
    // What answers nothing is not told either: the audit log would say that it was heard.
    if (!answerMore(facts, inquiry, this.#parts.offer)) return this.#route.lookUp(lookup, inquiry);
    const failure = await this.#heard(facts, inquiry);
    return failure === undefined ? { kind: 'facts', facts } : lookupFailed(lookup, failure);
  }

  consent(number: PhoneNumber, request: LookupRequest): Promise<ConsentReading> {
    return this.#route.consent(number, request);
  }

  async holdsConsent(number: PhoneNumber, request: LookupRequest): Promise<boolean> {
    const facts = await this.#parts.keptFacts
      .recall(request, number, request.cameInAtMs)
      .catch(unlessLost);
    if (facts !== undefined && facts.length > 0) return true;
    return this.#route.holdsConsent(number, request);
  }

  close(): Promise<void> {
    return this.#route.close();
  }

  async #recall(inquiry: Inquiry): Promise<readonly TimedFact[]> {
    const { number, request } = inquiry;
    const recalled = this.#parts.keptFacts
      .recall(request, number, request.cameInAtMs)
      .catch(unlessLost);
    const facts = await this.#whileItWaits(recalled, request.signal);
    return unknownFacts(facts ?? [], inquiry.facts);
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

  /** `undefined` when the request ends first. */
  async #whileItWaits<T>(work: Promise<T>, signal: AnyAbortSignal): Promise<T | undefined> {
    if (signal.aborted) return undefined;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const waiting: Abortable = { abort: () => resolve(undefined) };
    const listeners = this.#abortListeners.of(signal).add(waiting);
    try {
      return await Promise.race([work, promise]);
    } finally {
      listeners.delete(waiting);
    }
  }
}
