import { type FailedLookup, lookupOf, type TimedFact } from '../domain/fact.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import { cachedFrom } from '../lookups/keptAnswers.ts';
import type { CachedAnswer } from '../lookups/lookupAuthorizer.ts';
import {
  lookupFailed,
  type LookupOutcome,
  type LookupRequest,
  type LookupSession,
} from '../lookups/lookupRoute.ts';
import { closesMore } from '../lookups/planner.ts';
import { countsAt } from './consentRecord.ts';
import type { ConsentOperator } from './consentLedger.ts';

export interface Waiter {
  /** The operator of the request: the owner is prompted there unless a consent lives at another one. */
  readonly operator: ConsentOperator;
  readonly session: LookupSession;
  readonly wanted: Lookup;
  /** When it began to wait, on the monotonic clock. */
  readonly joinedAtMs: number;
  /** When kept facts were last recalled for it, on the monotonic clock. */
  readonly recalledAtMs: number;
  readonly settle: (outcome: LookupOutcome) => void;
  /** For a defect of ours. */
  readonly reject: (defect: unknown) => void;
}

export interface Answer {
  readonly outcome: LookupOutcome;
  /** The answers from lookups that were made for other requests, which are audited before it. */
  readonly cached?: readonly Omit<CachedAnswer, 'number' | 'request'>[];
  /** The consent whose expiry it reports. */
  readonly expiredId?: string;
}

/**
 * The requests of one caller that wait for one number, and their answers. An answer from a lookup that was made for
 * another request is audited first.
 * One step is taken for the latest request even if its patience ends before that, so that patience shorter than an
 * exchange still leads to an answer.
 */
export class Waiters {
  /** The latest deadline of all that ever joined: a step that leaves later helps no request. */
  deadlineMs = 0;
  /** The request for which a step is being decided or taken; `undefined` once the step of the pending cause is taken. */
  decidedFor: Waiter | undefined;
  readonly #waiting = new Set<Waiter>();
  /** The latest request for which no step was decided. */
  #joined: Waiter | undefined;

  /** The longest waiting first. */
  get waiters(): readonly Waiter[] {
    return [...this.#waiting];
  }

  get count(): number {
    return this.#waiting.size;
  }

  /** The request for which a step is still to be taken, even if none waits. */
  get pendingCause(): Waiter | undefined {
    return this.decidedFor ?? this.#joined;
  }

  /** A step is being decided: for the longest waiting request, otherwise for the pending cause. */
  decide(): void {
    const [first] = this.#waiting;
    if (this.decidedFor === undefined) [this.decidedFor, this.#joined] = [this.#joined, undefined];
    this.decidedFor = first ?? this.decidedFor;
  }

  add(waiter: Waiter): void {
    this.#waiting.add(waiter);
    this.#joined = waiter;
    this.deadlineMs = Math.max(this.deadlineMs, waiter.session.request.deadlineMs);
  }

  /** Reports whether only the owner's answer is missing; meanwhile the number is not at work. */
  ownerWait(isWaiting: boolean): void {
    for (const { session } of this.#waiting) {
      session.request.onOwnerWait?.(session.number, isWaiting);
    }
  }

  /** Removes a request, which may stay the pending cause. */
  remove(waiter: Waiter): void {
    this.#waiting.delete(waiter);
  }

  fail(failure: LookupFailure): void {
    for (const waiter of this.#waiting) this.#settle(waiter, lookupFailed(waiter.wanted, failure));
    this.#joined = undefined;
  }

  reject(defect: unknown): void {
    for (const waiter of this.#waiting) waiter.reject(defect);
    this.#waiting.clear();
    this.#joined = undefined;
  }

  /**
   * Answers the waiters for which there is an answer, each once that is audited, otherwise with the audit failure. Returns
   * the consents whose expiry was reported to a request that had not left.
   */
  async answer(answerFor: (waiter: Waiter) => Answer | undefined): Promise<readonly string[]> {
    const expiredIds: string[] = [];
    const answering = Array.from(this.#waiting, async (waiter) => {
      const answer = answerFor(waiter);
      if (answer === undefined) return;
      const { outcome, cached = [], expiredId } = answer;
      const { number, request } = waiter.session;
      let failure: LookupFailure | undefined;
      for (const one of cached) {
        failure ??= await waiter.operator.admission.delivered({ ...one, number, request });
      }
      if (failure !== undefined) this.#settle(waiter, lookupFailed(waiter.wanted, failure));
      else if (this.#settle(waiter, outcome) && expiredId !== undefined) expiredIds.push(expiredId);
    });
    await Promise.all(answering);
    return expiredIds;
  }

  /** Answers only requests that came in before its lookup left: others may find it kept. Audited for `madeFor`. */
  async answerWith(
    fact: TimedFact,
    made: Lookup,
    consentId: string,
    madeFor: LookupRequest,
  ): Promise<void> {
    const outcome = { kind: 'facts', facts: [fact], made } as const;
    const shared = cachedFrom('shared', lookupOf(fact), fact.toldBy, consentId);
    await this.answer(({ session: { request } }) => {
      if (request.cameInAtMs > fact.leftAtMs) return undefined;
      return { outcome, cached: request === madeFor ? [] : [shared] };
    });
  }

  /**
   * Returns a failure to the requests for which it closes a question.
   *
   * @param operator the identity of the operator that failed
   * @param made the lookup's consent and the request that it is audited for; absent where no lookup was made
   */
  async failFor(
    failed: FailedLookup,
    operator: string,
    made?: { readonly consentId: string; readonly madeFor: LookupRequest },
  ): Promise<void> {
    const { lookup, failure } = failed;
    const outcome = { kind: 'failed', failed } as const;
    const isShared = made !== undefined && failure.reach === 'number';
    const shared = isShared ? [cachedFrom('shared', lookup, operator, made.consentId)] : [];
    await this.answer(({ session, operator: { identity, offer } }) => {
      if (!countsAt({ operator, failure }, identity)) return undefined;
      if (!closesMore(session, offer, [], failed)) return undefined;
      return { outcome, cached: session.request === made?.madeFor ? [] : shared };
    });
  }

  /** No step is taken for it any more. `false` when it has left. */
  #settle(waiter: Waiter, outcome: LookupOutcome): boolean {
    if (this.#joined === waiter) this.#joined = undefined;
    if (!this.#waiting.delete(waiter)) return false;
    waiter.settle(outcome);
    return true;
  }
}
