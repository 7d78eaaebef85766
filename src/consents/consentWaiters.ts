import {
  closes,
  type FailedLookup,
  lookupOf,
  unknownFacts,
  type TimedFact,
} from '../domain/fact.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import { operatorNameOf } from '../operator/operatorSettings.ts';
import type { CachedAnswer } from '../lookups/lookupAuthorizer.ts';
import type { FactCache, RecalledFacts } from '../lookups/factCache.ts';
import {
  lookupFailed,
  type LookupOutcome,
  type LookupRequest,
  type LookupSession,
} from '../lookups/lookupRoute.ts';
import { closesMore } from '../lookups/planner.ts';
import { countsAt } from './consentRecord.ts';
import { ANOTHERS_PENDING, failureToTell } from './consentView.ts';
import type { ConsentOperator, ConsentSnapshot } from './consentLedger.ts';

export interface Waiter {
  /** The operator of the request: the owner is prompted there unless a consent lives at another one. */
  readonly operator: ConsentOperator;
  readonly session: LookupSession;
  readonly wanted: Lookup;
  /** When it began to wait, on the monotonic clock. */
  readonly joinedAtMs: number;
  recalledAtMs: number;
  readonly settle: (outcome: LookupOutcome) => void;
  /** For a defect of ours. */
  readonly reject: (defect: unknown) => void;
}

interface Told {
  readonly outcome: LookupOutcome;
  readonly heard?: readonly Omit<CachedAnswer, 'number' | 'request'>[];
  /** The consent whose expiry it is. */
  readonly expiredId?: string;
}

/** Less than the time for which an answered consent is on record. */
const RECALL_HOLDS_MS = 1000;

const EXPIRED: LookupFailure = { code: 'CONSENT_EXPIRED', reach: 'number' };
const REFUSED: LookupFailure = { code: 'OPERATOR_REFUSED', reach: 'operation' };

/**
 * The requests of one caller that wait for one number, and their answers. An answer from a lookup that was made for another
 * request is audited first.
 *
 * A pending step outlives its request's patience: the next step is taken once for the latest request, even if it no longer
 * waits. So patience shorter than the exchanges leads to an answer.
 */
export class Waiters {
  /** Waiters that have left, and pending steps that are done. Only written here. */
  departures = 0;
  /** The latest of all that ever joined: a step that leaves later helps no request. */
  deadlineMs = 0;
  readonly #factCache: Pick<FactCache, 'recall'>;
  readonly #waiting = new Set<Waiter>();
  /** The longest waiting first. */
  readonly all: ReadonlySet<Waiter> = this.#waiting;
  #pendingStep: Waiter | undefined;

  constructor(factCache: Pick<FactCache, 'recall'>) {
    this.#factCache = factCache;
  }

  add(waiter: Waiter): void {
    this.#waiting.add(waiter);
    this.#pendingStep = waiter;
    this.deadlineMs = Math.max(this.deadlineMs, waiter.session.request.deadlineMs);
  }

  /** Whether only the owner's answer is waited for: meanwhile its number is not at work. */
  ownerWait(isWaiting: boolean): void {
    for (const { session } of this.all) session.request.onOwnerWait?.(session.number, isWaiting);
  }

  /** Its pending step stays. */
  remove(waiter: Waiter): void {
    if (this.#waiting.delete(waiter)) this.departures += 1;
  }

  /** The request that the next step is taken for: the longest waiting, or else the most recent one. */
  takeCause(): Waiter | undefined {
    const pendingStep = this.#pendingStep;
    this.#pendingStep = undefined;
    const [first] = this.all;
    if (first === undefined && pendingStep !== undefined) this.departures += 1;
    return first ?? pendingStep;
  }

  fail(failure: LookupFailure): 'told' {
    for (const waiter of this.all) this.#settle(waiter, lookupFailed(waiter.wanted, failure));
    this.#pendingStep = undefined;
    return 'told';
  }

  reject(defect: unknown): void {
    for (const waiter of this.all) waiter.reject(defect);
    this.departures += this.all.size;
    this.#waiting.clear();
    this.#pendingStep = undefined;
  }

  /** Answers each request from the record. Returns the reported expiries; `undefined` where it answers none. */
  tellRecorded(page: ConsentSnapshot): Promise<readonly (string | undefined)[]> | undefined {
    const telling: Promise<string | undefined>[] = [];
    for (const waiter of this.all) {
      const known = knownFrom(page, waiter);
      if (known !== undefined) telling.push(this.#tell(waiter, known));
    }
    return telling.length === 0 ? undefined : Promise.all(telling);
  }

  /** Whether a fact may be kept since a request looked: another process had the answer, or died after it kept the fact. */
  mayFindKept(cause: Waiter, { ends, time }: ConsentSnapshot): boolean {
    return ends.some((end) => {
      switch (end.kind) {
        case 'answered':
          return [cause, ...this.all].some(
            ({ recalledAtMs }) => recalledAtMs + time.minAheadMs <= end.atMs,
          );
        case 'expired':
          return !end.isTold;
        case 'failed':
          return false;
      }
    });
  }

  /**
   * Whether kept facts were recalled for each request so shortly before the page was read that the page would show the end
   * of a consent whose fact was kept in between. Any end on it counts as such: another server may have written it by another
   * clock, and a process that was held up keeps a fact after its consent has expired.
   */
  hasRecalled(cause: Waiter, { ends, nowMs, time }: ConsentSnapshot): boolean {
    if (ends.some(({ kind }) => kind !== 'failed')) return false;
    const sinceMs = nowMs - time.minAheadMs - RECALL_HOLDS_MS;
    return [cause, ...this.all].every(({ recalledAtMs }) => recalledAtMs > sinceMs);
  }

  /** `true` where facts are kept for a request, even one that no longer waits: then no step is taken yet. */
  async tellKept(cause: Waiter): Promise<boolean> {
    const all = [...new Set([cause, ...this.all])];
    const { number, request } = cause.session;
    // A fact that is too old for the earliest request is too old for all.
    let firstCameInAtMs = Infinity;
    for (const { session } of all) {
      firstCameInAtMs = Math.min(firstCameInAtMs, session.request.cameInAtMs);
    }
    const most = await this.#factCache.recall(request, number, firstCameInAtMs);
    for (const waiter of all) waiter.recalledAtMs = most.recalledAtMs;
    if (!all.some((waiter) => isNews(most, waiter))) return false;
    const told = await Promise.all(
      all.map(async (waiter) => {
        const { session } = waiter;
        const { cameInAtMs } = session.request;
        const recalled = await this.#factCache.recall(session.request, number, cameInAtMs);
        if (!isNews(recalled, waiter)) return false;
        const { besides } = recalled;
        const facts = unknownFacts(recalled.facts, session.facts);
        const heard = facts.map((fact) => heardOf('kept', lookupOf(fact), fact.toldBy));
        await this.#tell(waiter, { outcome: { kind: 'facts', facts, besides }, heard });
        return true;
      }),
    );
    return told.includes(true);
  }

  /** Answers only requests that came in before its lookup left: others may find it kept. It is audited for `madeFor`. */
  async tellFact(fact: TimedFact, consentId: string, madeFor: LookupRequest): Promise<void> {
    const outcome = { kind: 'facts', facts: [fact] } as const;
    const telling: Promise<unknown>[] = [];
    for (const waiter of this.all) {
      const { request } = waiter.session;
      if (request.cameInAtMs > fact.leftAtMs) continue;
      const isMadeForIt = request === madeFor;
      const heard = isMadeForIt ? [] : [heardOf('shared', lookupOf(fact), fact.toldBy, consentId)];
      telling.push(this.#tell(waiter, { outcome, heard }));
    }
    await Promise.all(telling);
  }

  /**
   * Returns a failure to the requests for which it closes a question.
   *
   * @param operator the identity of the operator that failed
   * @param made the lookup's consent and the request that it is audited for; absent where no lookup was made
   */
  async tellFailure(
    failed: FailedLookup,
    operator: string,
    made?: { readonly consentId: string; readonly madeFor: LookupRequest },
  ): Promise<void> {
    const { lookup, failure } = failed;
    const outcome = { kind: 'failed', failed } as const;
    const isHeard = made !== undefined && failure.reach === 'number';
    const heard = isHeard ? [heardOf('shared', lookup, operator, made.consentId)] : [];
    const telling: Promise<unknown>[] = [];
    for (const waiter of this.all) {
      const { session } = waiter;
      const { identity, offer } = waiter.operator;
      if (!countsAt({ operator, failure }, identity)) continue;
      if (!closesMore(session, offer, [], failed)) continue;
      const isMadeForIt = session.request === made?.madeFor;
      telling.push(this.#tell(waiter, { outcome, heard: isMadeForIt ? [] : heard }));
    }
    await Promise.all(telling);
  }

  /** Answers once it is audited, else with the audit failure. Returns the reported expiry, unless the request has left. */
  async #tell(
    waiter: Waiter,
    { outcome, heard = [], expiredId }: Told,
  ): Promise<string | undefined> {
    const { number, request } = waiter.session;
    for (const one of heard) {
      const failure = await waiter.operator.admission.heard({ ...one, number, request });
      if (failure === undefined) continue;
      this.#settle(waiter, lookupFailed(waiter.wanted, failure));
      return undefined;
    }
    return this.#settle(waiter, outcome) ? expiredId : undefined;
  }

  /** Its pending step is done. `false` when it has left. */
  #settle(waiter: Waiter, outcome: LookupOutcome): boolean {
    if (this.#pendingStep === waiter) this.#pendingStep = undefined;
    if (!this.#waiting.delete(waiter)) return false;
    this.departures += 1;
    waiter.settle(outcome);
    return true;
  }
}

/** The record's answer to a request: then no step is taken for it. */
export function knownFrom(
  { ends, barred, prompt, nowMs, time, refusedForMs }: ConsentSnapshot,
  { session, wanted, joinedAtMs, operator: { identity, offer } }: Waiter,
): Told | undefined {
  for (const end of ends) {
    switch (end.kind) {
      case 'answered':
        break;
      case 'expired':
        if (!end.isTold || joinedAtMs + time.maxAheadMs < end.atMs) {
          return { outcome: lookupFailed(wanted, EXPIRED), expiredId: end.id };
        }
        break;
      case 'failed': {
        if (!countsAt(end, identity)) break;
        const failed = { lookup: end.lookup, failure: failureToTell(end, nowMs) };
        if (!closesMore(asAsked(session), offer, [], failed)) break;
        const heard = heardOf('kept', end.lookup, end.operator, end.id);
        return {
          outcome: { kind: 'failed', failed },
          heard: end.failure.reach === 'number' ? [heard] : [],
        };
      }
    }
  }
  if (barred.some((one) => countsAt(one, identity) && closes(one, wanted))) {
    return { outcome: lookupFailed(wanted, ANOTHERS_PENDING) };
  }
  return prompt.state === 'free' && refusedForMs[wanted.operation] > 0
    ? { outcome: lookupFailed(wanted, REFUSED) }
    : undefined;
}

/** @param operator the identity of the operator of the lookup */
function heardOf(how: CachedAnswer['how'], lookup: Lookup, operator: string, consentId?: string) {
  const heard = { how, lookup, operator: operatorNameOf(operator) };
  return consentId === undefined ? heard : { ...heard, consentId };
}

function isNews(
  { facts, besides }: Pick<RecalledFacts, 'facts' | 'besides'>,
  { session, operator: { offer } }: Waiter,
): boolean {
  const news = unknownFacts(facts, session.facts);
  return closesMore({ ...asAsked(session), besides }, offer, news);
}

/** As if it still waited: the end of its patience has closed its plan. */
function asAsked(session: LookupSession): LookupSession {
  const failures = session.failures.filter(({ failure }) => failure.code !== 'CONSENT_PENDING');
  return { ...session, failures };
}
