import type { Clock } from '../system/clock.ts';
import { closes, type FailedLookup } from '../domain/failedLookup.ts';
import { lookupOf, unknownFacts, type TimedFact } from '../domain/fact.ts';
import type { LookupFailure } from '../domain/errors.ts';
import { countsAt } from './consentRecord.ts';
import { ANOTHERS_PENDING, failureToTell } from './consentView.ts';
import { operatorNameOf } from '../operator/operatorIdentity.ts';
import type { CachedAnswer } from '../lookups/lookupAuthorizer.ts';
import type { ConsentSnapshot } from './consentLedger.ts';
import type { Waiter, Waiters } from './consentWaiters.ts';
import type { FactCache, CachedFacts, RecalledFacts } from '../lookups/factCache.ts';
import {
  lookupFailed,
  type LookupSession,
  type LookupOutcome,
  type LookupRequest,
} from '../lookups/lookupRoute.ts';
import { answerMore, changesPlan } from '../lookups/planner.ts';

export interface NotifierParts {
  readonly factCache: FactCache;
  readonly clock: Clock;
}

/** What a request is told, and of which lookups that were not made for it. */
interface Told {
  readonly outcome: LookupOutcome;
  readonly heard?: readonly Omit<CachedAnswer, 'number' | 'request'>[];
  /** The consent whose expiry it is. */
  readonly expiredId?: string;
}

/** Shorter than an answered consent is on record. */
const RECALL_HOLDS_MS = 1000;

const EXPIRED: LookupFailure = { code: 'CONSENT_EXPIRED', reach: 'number' };
const REFUSED: LookupFailure = { code: 'OPERATOR_REFUSED', reach: 'operation' };

/**
 * Tells requests what is known without another exchange, and what an exchange brought. What a request
 * hears of a lookup that was made for another one is audited before it is told.
 */
export class ConsentNotifier {
  readonly #waiters: Waiters;
  readonly #parts: NotifierParts;

  constructor(waiters: Waiters, parts: NotifierParts) {
    this.#waiters = waiters;
    this.#parts = parts;
  }

  /** Tells each request what the record says to it. Returns the ids of the expiries that were told. */
  async tellRecorded(page: ConsentSnapshot): Promise<readonly string[]> {
    const told = await Promise.all(
      this.#waiters.all().map(async (waiter) => {
        const known = knownFrom(page, waiter);
        if (known === undefined || !(await this.#tell(waiter, known))) return [];
        return known.expiredId ?? [];
      }),
    );
    return [...new Set(told.flat())];
  }

  /** Whether the record says something to a request: then no step is to be taken for it. */
  isKnownTo(waiter: Waiter, page: ConsentSnapshot): boolean {
    return knownFrom(page, waiter) !== undefined;
  }

  /**
   * Whether a fact may have been kept since a request last looked: a consent was answered in another
   * process, or the process that had the token died after it kept the fact.
   */
  mayFindKept(cause: Waiter, { view, time }: ConsentSnapshot): boolean {
    return view.ends.some((end) => {
      switch (end.kind) {
        case 'answered':
          return this.#allWith(cause).some(
            ({ recalledAtMs }) => time.atLeast(recalledAtMs) <= end.atMs,
          );
        case 'expired':
          return !end.isTold;
        case 'failed':
          return false;
      }
    });
  }

  /**
   * Whether all that is kept was recalled for each request so short a time before the page was read that the end of
   * a consent whose fact was kept in between would be on it. Where there is one, it is not asked which came first: another
   * server may have written it by another clock, and what was held up brings a fact after its consent has expired.
   */
  hasRecalled(cause: Waiter, { view, nowMs, time }: ConsentSnapshot): boolean {
    if (view.ends.some(({ kind }) => kind !== 'failed')) return false;
    return this.#allWith(cause).every(
      ({ recalledAtMs }) => nowMs - time.atLeast(recalledAtMs) < RECALL_HOLDS_MS,
    );
  }

  /**
   * Tells each request the facts that are kept for it. `true` when there are any, be it for the request
   * that the step is taken for although it waits no more: then nothing is to be asked yet.
   */
  async tellKept(cause: Waiter): Promise<boolean> {
    const all = this.#allWith(cause);
    // What the request that came first may not hear, none may.
    const firstCameInAtMs = all.reduce(
      (earliest, { session }) => Math.min(earliest, session.request.cameInAtMs),
      Infinity,
    );
    const most = await this.#recall(cause.session, firstCameInAtMs);
    for (const waiter of all) waiter.recalledAtMs = most.recalledAtMs;
    if (!all.some((waiter) => isNews(most, waiter))) return false;
    const told = await Promise.all(
      all.map(async (waiter) => {
        const { session } = waiter;
        const recalled = await this.#recall(session, session.request.cameInAtMs);
        if (!isNews(recalled, waiter)) return false;
        const facts = unknownFacts(recalled.facts, session.facts);
        await this.#tell(waiter, toldFromCache({ ...recalled, facts }));
        return true;
      }),
    );
    return told.includes(true);
  }

  /**
   * Tells a fact to the requests that came before its lookup left; the others find it among the kept
   * ones, if they may.
   *
   * @param madeFor the request in whose name the lookup is audited
   */
  async tellFact(fact: TimedFact, consentId: string, madeFor: LookupRequest): Promise<void> {
    const operator = operatorNameOf(fact.toldBy);
    const heard = [{ how: 'shared', lookup: lookupOf(fact), consentId, operator }] as const;
    await Promise.all(
      this.#waiters
        .all()
        .filter(({ session }) => session.request.cameInAtMs <= fact.leftAtMs)
        .map((waiter) => {
          const isMadeForIt = waiter.session.request === madeFor;
          return this.#tell(waiter, {
            outcome: { kind: 'facts', facts: [fact] },
            heard: isMadeForIt ? [] : heard,
          });
        }),
    );
  }

  /**
   * Tells a failure to the requests that it closes something for.
   *
   * @param operator the identity of the one that it is of
   * @param made the lookup's consent and the request in whose name it is audited; absent where none was made
   */
  async tellFailure(
    failed: FailedLookup,
    operator: string,
    made?: { readonly consentId: string; readonly madeFor: LookupRequest },
  ): Promise<void> {
    const { lookup, failure } = failed;
    const heard =
      made !== undefined && failure.reach === 'number'
        ? ([
            {
              how: 'shared',
              lookup,
              consentId: made.consentId,
              operator: operatorNameOf(operator),
            },
          ] as const)
        : [];
    await Promise.all(
      this.#waiters
        .all()
        .filter((waiter) => countsAt({ operator, failure }, waiter.operator.identity))
        .filter(({ session, operator: { offer } }) => changesPlan(failed, session, offer))
        .map((waiter) => {
          const isMadeForIt = waiter.session.request === made?.madeFor;
          return this.#tell(waiter, {
            outcome: { kind: 'failed', failed },
            heard: isMadeForIt ? [] : heard,
          });
        }),
    );
  }

  /** The request that the step is taken for may wait no more. */
  #allWith(cause: Waiter): readonly Waiter[] {
    return [...new Set([cause, ...this.#waiters.all()])];
  }

  #recall({ number, request }: LookupSession, cameInAtMs: number): Promise<RecalledFacts> {
    return this.#parts.factCache.recall(request, number, cameInAtMs);
  }

  /** Whether the request was still there to be told. */
  async #tell(waiter: Waiter, told: Told): Promise<boolean> {
    const outcome = await audited(waiter, told);
    return this.#waiters.settle(waiter, outcome);
  }
}

/** What a request is told, once that is audited; the failure to audit it in its place. */
async function audited(
  { session: { number, request }, wanted, operator: { admission } }: Waiter,
  { outcome, heard = [] }: Told,
): Promise<LookupOutcome> {
  for (const one of heard) {
    const failure = await admission.heard({ ...one, number, request });
    if (failure !== undefined) return lookupFailed(wanted, failure);
  }
  return outcome;
}

/** What the record says to a request, if it says anything about what it wants. */
function knownFrom(
  { view, nowMs, time }: ConsentSnapshot,
  { session, wanted, joinedAtMs, operator: { identity, offer } }: Waiter,
): Told | undefined {
  for (const end of view.ends) {
    switch (end.kind) {
      case 'answered':
        break;
      case 'expired':
        if (!end.isTold || time.atMost(joinedAtMs) < end.atMs) {
          return { outcome: lookupFailed(wanted, EXPIRED), expiredId: end.id };
        }
        break;
      case 'failed': {
        if (!countsAt(end, identity)) break;
        const failed = { lookup: end.lookup, failure: failureToTell(end, nowMs) };
        if (!changesPlan(failed, asAsked(session), offer)) break;
        return {
          outcome: { kind: 'failed', failed },
          heard:
            end.failure.reach === 'number'
              ? [
                  {
                    how: 'kept',
                    lookup: end.lookup,
                    consentId: end.id,
                    operator: operatorNameOf(end.operator),
                  },
                ]
              : [],
        };
      }
    }
  }
  if (view.barred.some((barred) => countsAt(barred, identity) && closes(barred, wanted))) {
    return { outcome: lookupFailed(wanted, ANOTHERS_PENDING) };
  }
  const refusedUntilMs = view.refusedUntilMs[wanted.operation] ?? 0;
  return view.prompt.state === 'free' && refusedUntilMs > nowMs
    ? { outcome: lookupFailed(wanted, REFUSED) }
    : undefined;
}

function toldFromCache({ facts, besides }: CachedFacts): Told {
  return {
    outcome: { kind: 'facts', facts, besides },
    heard: facts.map((fact) => ({
      how: 'kept',
      lookup: lookupOf(fact),
      operator: operatorNameOf(fact.toldBy),
    })),
  };
}

/** Whether facts answer something that the request asks and does not know. */
function isNews(
  { facts, besides }: CachedFacts,
  { session, operator: { offer } }: Waiter,
): boolean {
  const news = unknownFacts(facts, session.facts);
  return answerMore(news, { ...asAsked(session), besides }, offer);
}

/** What a request asks, as if it still waited: its patience being over has closed its plan. */
function asAsked(session: LookupSession): LookupSession {
  const failures = session.failures.filter(({ failure }) => failure.code !== 'CONSENT_PENDING');
  return { ...session, failures };
}
