import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { ConsentOperator } from './consentOperator.ts';
import {
  lookupFailed,
  type LookupSession,
  type LookupOutcome,
  type LookupRequest,
} from '../lookups/lookupRoute.ts';

/** One request's wait for what it wants to know about a number. */
export class Waiter {
  /** Whom the request is to ask, as routing has it: the owner is prompted there unless a consent lives elsewhere. */
  readonly operator: ConsentOperator;
  readonly session: LookupSession;
  readonly wanted: Lookup;
  /** When it began to look for what it wants, on the monotonic clock. */
  readonly joinedAtMs: number;
  /** When kept facts were last recalled for it. */
  recalledAtMs: number;
  readonly outcome: Promise<LookupOutcome>;
  readonly #resolvers: PromiseWithResolvers<LookupOutcome>;

  constructor(
    operator: ConsentOperator,
    session: LookupSession,
    wanted: Lookup,
    joinedAtMs: number,
    recalledAtMs = -Infinity,
  ) {
    this.operator = operator;
    this.session = session;
    this.wanted = wanted;
    this.joinedAtMs = joinedAtMs;
    this.recalledAtMs = recalledAtMs;
    this.#resolvers = Promise.withResolvers();
    this.outcome = this.#resolvers.promise;
  }

  get request(): LookupRequest {
    return this.session.request;
  }

  settle(outcome: LookupOutcome): void {
    this.#resolvers.resolve(outcome);
  }

  /** For a defect of ours. */
  reject(defect: unknown): void {
    this.#resolvers.reject(defect);
  }
}

/**
 * The requests of one caller that wait about one number.
 *
 * Each has a pending step as well, which outlives its patience: the next step is taken once for a request that
 * has come, even if it waits no more. So patience shorter than the exchanges comes to an answer.
 */
export class Waiters {
  readonly #waiting = new Set<Waiter>();
  #pendingStep: Waiter | undefined;
  #departures = 0;

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Of the one that has most time left; a step for which no request waits any more has no deadline. */
  get deadlineMs(): number {
    if (this.isEmpty) return Infinity;
    return this.all().reduce((last, { request }) => Math.max(last, request.deadlineMs), 0);
  }

  /** Counts waiters that have left and pending steps that are done: of those there are no more than have come. */
  get departures(): number {
    return this.#departures;
  }

  /** The one that waits longest. */
  get first(): Waiter | undefined {
    const [first] = this.#waiting;
    return first;
  }

  all(): readonly Waiter[] {
    return [...this.#waiting];
  }

  add(waiter: Waiter): void {
    this.#waiting.add(waiter);
    this.#pendingStep = waiter;
  }

  /** Takes a waiter out that waits no more; its pending step stays. */
  remove(waiter: Waiter): void {
    if (this.#waiting.delete(waiter)) this.#departures += 1;
  }

  /**
   * For which request the next step is taken: the one that waits longest, or the last pending step, which is
   * done by it. `undefined` when there is nothing to be done.
   */
  takeCause(): Waiter | undefined {
    const pendingStep = this.#pendingStep;
    this.#pendingStep = undefined;
    const { first } = this;
    if (first === undefined && pendingStep !== undefined) this.#departures += 1;
    return first ?? pendingStep;
  }

  /** Tells a waiter; `false` when it has left. Its pending step is done. */
  settle(waiter: Waiter, outcome: LookupOutcome): boolean {
    if (this.#pendingStep === waiter) this.#pendingStep = undefined;
    if (!this.#waiting.delete(waiter)) return false;
    this.#departures += 1;
    waiter.settle(outcome);
    return true;
  }

  /** Tells all of them that what they wanted failed. */
  fail(failure: LookupFailure): void {
    for (const waiter of this.#waiting) {
      this.settle(waiter, lookupFailed(waiter.wanted, failure));
    }
    this.#pendingStep = undefined;
  }

  reject(defect: unknown): void {
    for (const waiter of this.#waiting) waiter.reject(defect);
    this.#departures += this.#waiting.size;
    this.#waiting.clear();
    this.#pendingStep = undefined;
  }
}
