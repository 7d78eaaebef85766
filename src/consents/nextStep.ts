import type { LookupFailure } from '../domain/errors.ts';
import { closes, lookupOf, unknownFacts } from '../domain/fact.ts';
import type { Lookup } from '../domain/question.ts';
import type { RecalledFacts } from '../lookups/factCache.ts';
import { cachedFrom } from '../lookups/keptAnswers.ts';
import { lookupFailed, type LookupSession } from '../lookups/lookupRoute.ts';
import { closesMore, nextWindowAmong } from '../lookups/planner.ts';
import { LOOK_AGAIN_MS, type ConsentOperator, type ConsentSnapshot } from './consentLedger.ts';
import { countsAt, type ConsentEnd, type Granted, type Pending } from './consentRecord.ts';
import { ANOTHERS_PENDING, failureToReturn, pendingFailure } from './consentView.ts';
import type { Answer, Waiter, Waiters } from './consentWaiters.ts';

/** What a flow knows in addition to its page. The page is the record as its caller may know it, at one moment. */
export interface Known {
  /** The operator whose refusals the page has. */
  readonly readFor: ConsentOperator | undefined;
  readonly recalls: Pick<WeakMap<Waiter, Recall>, 'get'>;
  /** The operators that can be polled, by their identities. */
  readonly operators: ReadonlyMap<string, ConsentOperator>;
}

/** The kept facts of a request, and the version of the page that they were recalled after. */
export interface Recall extends RecalledFacts {
  readonly version: number;
}

/** In the order of docs/flows.md, "The next step"; `prompt` in a page is the state of its consent. */
export type Step =
  /** No request waits. One that has left is owed a step that makes progress, but no answer, sleep or failure. */
  | { readonly kind: 'end' }
  /** Reads the record, and what its operator refuses. */
  | { readonly kind: 'read'; readonly operator: ConsentOperator }
  /** Recalls kept facts for these requests: the page shows that there may be new ones, or an owner would be prompted. */
  | {
      readonly kind: 'recall';
      readonly page: ConsentSnapshot;
      readonly waiters: readonly Waiter[];
      /** Whether the record has answered all it can: from here on a request's patience may end. */
      readonly mayPatienceEnd: boolean;
    }
  /** Answers these requests with a kept fact, or with the end of a consent. */
  | {
      readonly kind: 'answer';
      readonly page: ConsentSnapshot;
      readonly answers: ReadonlyMap<Waiter, Answer>;
    }
  /** Writes a consent again that a shared store has lost. */
  | ({ readonly kind: 'restore'; readonly lost: Pending } & Taken)
  | ({ readonly kind: 'prompt'; readonly lookup: Lookup } & Taken)
  | ({ readonly kind: 'poll'; readonly pending: Pending } & Taken)
  /** Spends a token of the record whose lookup has not left. */
  | ({ readonly kind: 'spend'; readonly granted: Granted } & Taken)
  /** Sleeps until then, on our own monotonic clock. */
  | { readonly kind: 'sleep'; readonly untilMs: number }
  /** Fails all requests. */
  | { readonly kind: 'fail'; readonly failure: LookupFailure };

interface Taken {
  readonly page: ConsentSnapshot;
  /** The request that it is taken for. */
  readonly cause: Waiter;
  /** That of the request; for a poll and for a token that of the consent. */
  readonly operator: ConsentOperator;
}

export type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>;

/**
 * The most steps between two that sleep, write, fail or make an exchange, while no request joins or leaves: a reading,
 * two recalls and that step; for each request its answer, and a reading.
 */
export function mostSteps(waiters: number): number {
  return 4 + 2 * waiters;
}

/** How long a recall counts: less than an answered consent stays in the record. */
const RECALL_HOLDS_MS = 1000;

const END: Step = { kind: 'end' };
const EXPIRED: LookupFailure = { code: 'CONSENT_EXPIRED', reach: 'number' };
const OPERATOR_REFUSED: LookupFailure = { code: 'OPERATOR_REFUSED', reach: 'operation' };

/**
 * The next step of a consent. Each one adds to the page or to what is recalled, answers a request, writes, makes an exchange
 * or sleeps ({@link mostSteps}). Pure.
 *
 * @param page `undefined` where it is to be read: after each step but a reading and a recall. Once a prompt has its permit it
 *   is decided again, on this page or on a newer one
 * @param wallNowMs in milliseconds since 1970
 */
export function nextStep(
  page: ConsentSnapshot | undefined,
  { waiters, pendingCause }: Pick<Waiters, 'waiters' | 'pendingCause'>,
  known: Known,
  wallNowMs: number,
): Step {
  const cause = waiters[0] ?? pendingCause;
  if (cause === undefined) return END;
  const { operator } = cause;
  if (page === undefined || known.readFor !== operator) return { kind: 'read', operator };

  const isWaiting = waiters.length > 0;
  const all = isWaiting ? waiters : [cause];
  const ifWaiting = (step: Step): Step => (isWaiting ? step : END);
  const { prompt, lost, time } = page;
  const needs = all.map((waiter) => recallNeeded(waiter, page, known));
  const recall = (mayPatienceEnd: boolean): Step => {
    const unsure = all.filter((_, index) => needs[index] !== undefined);
    return { kind: 'recall', page, waiters: unsure, mayPatienceEnd };
  };
  if (needs.includes('now')) return recall(false);
  const answers = new Map<Waiter, Answer>();
  for (const waiter of all) {
    const answer = answerFrom(waiter, page, known);
    if (answer !== undefined) answers.set(waiter, answer);
  }
  if (answers.size > 0) return ifWaiting({ kind: 'answer', page, answers });
  if (lost !== undefined) return { kind: 'restore', page, cause, operator, lost };

  // When the sleep ends, this page may still be in use: by its clock the moment has come.
  const sleep = (atMs: number) => ifWaiting({ kind: 'sleep', untilMs: atMs - time.minAheadMs });
  switch (prompt.state) {
    case 'free': {
      // Failures that bar a prompt for the cause, also those of other callers, and refusals were answered above.
      if (needs.includes('before-prompt')) return recall(true);
      // A date may answer every window.
      const date = waiters.find(
        (one) => one.operator === operator && one.wanted.operation === 'retrieve-date',
      );
      const { wanted } = date ?? cause;
      const lookup = mostUsefulLookup(wanted, waiters, page.ends, operator);
      return { kind: 'prompt', page, cause, operator, lookup };
    }
    case 'due': {
      const { pending } = prompt;
      return { kind: 'poll', page, cause, operator: operatorOf(pending, known), pending };
    }
    case 'granted': {
      const { granted } = prompt;
      const holder = operatorOf(granted, known);
      if (holder.tokens.holds(granted)) {
        return { kind: 'spend', page, cause, operator: holder, granted };
      }
      // Only the process that holds its key can spend it: a retry may reach that one.
      break;
    }
    case 'waiting':
      return sleep(prompt.againAtMs);
    case 'under-way':
      return sleep(Math.min(prompt.leaseUntilMs, page.nowMs + LOOK_AGAIN_MS));
    case 'anothers':
    case 'in-doubt':
    case 'closed':
      break;
  }
  return ifWaiting({ kind: 'fail', failure: pendingFailure(prompt, page.nowMs, wallNowMs) });
}

function operatorOf({ operator }: Pending | Granted, { operators }: Known): ConsentOperator {
  const found = operators.get(operator);
  if (found === undefined) throw new Error('A consent is pursued at an unknown operator.');
  return found;
}

/**
 * When kept facts are to be recalled: `now` where one may have been kept since the request looked, because another
 * process got the answer, or died after it kept it; `before-prompt` where the page would not show that.
 */
function recallNeeded(
  waiter: Waiter,
  { version, ends, nowMs, time, lost }: ConsentSnapshot,
  { recalls }: Known,
): 'now' | 'before-prompt' | undefined {
  const recall = recalls.get(waiter);
  const { recalledAtMs } = recall ?? waiter;
  // If a fact had been kept between such a recall and the page, the page would show the consent's end.
  const isRecent = recalledAtMs > nowMs - time.minAheadMs - RECALL_HOLDS_MS;
  if (isRecent && recall?.version === version) return undefined;
  const mayBeKept = ends.some((end) => {
    switch (end.kind) {
      case 'answered':
        return recalledAtMs + time.minAheadMs <= end.atMs;
      case 'expired':
        return !end.isTold;
      case 'failed':
        return false;
    }
  });
  if (mayBeKept || lost !== undefined) return 'now';
  // An end may be by another server's clock, and a suspended process keeps a fact after its consent has expired.
  return isRecent && ends.every(({ kind }) => kind === 'failed') ? undefined : 'before-prompt';
}

/** An answer from kept facts, otherwise from the record: then no step is taken for the request. */
function answerFrom(waiter: Waiter, page: ConsentSnapshot, known: Known): Answer | undefined {
  const { facts: kept = [], unrequested = [] } = known.recalls.get(waiter) ?? {};
  const { session, operator } = waiter;
  const facts = unknownFacts(kept, session.facts);
  if (
    facts.length > 0 &&
    closesMore({ ...asRequested(session), unrequested }, operator.offer, facts)
  ) {
    const cached = facts.map((fact) => cachedFrom('kept', lookupOf(fact), fact.toldBy));
    return { outcome: { kind: 'facts', facts, unrequested }, cached };
  }
  return page.lost === undefined ? recordedFor(waiter, page, known) : undefined;
}

function recordedFor(
  { session, wanted, joinedAtMs, operator }: Waiter,
  { ends, barred, prompt, nowMs, time, refusedForMs }: ConsentSnapshot,
  { readFor }: Known,
): Answer | undefined {
  const { identity, offer } = operator;
  for (const end of ends) {
    switch (end.kind) {
      // Its fact is among the kept ones.
      case 'answered':
        break;
      case 'expired':
        if (!end.isTold || joinedAtMs + time.maxAheadMs < end.atMs) {
          return { outcome: lookupFailed(wanted, EXPIRED), expiredId: end.id };
        }
        break;
      case 'failed': {
        if (!countsAt(end, identity)) break;
        const failed = { lookup: end.lookup, failure: failureToReturn(end, nowMs) };
        if (!closesMore(asRequested(session), offer, [], failed)) break;
        const cached = cachedFrom('kept', end.lookup, end.operator, end.id);
        return {
          outcome: { kind: 'failed', failed },
          cached: end.failure.reach === 'number' ? [cached] : [],
        };
      }
    }
  }
  if (barred.some((one) => countsAt(one, identity) && closes(one, wanted))) {
    return { outcome: lookupFailed(wanted, ANOTHERS_PENDING) };
  }
  const isRefused = readFor === operator && refusedForMs[wanted.operation] > 0;
  return isRefused && prompt.state === 'free'
    ? { outcome: lookupFailed(wanted, OPERATOR_REFUSED) }
    : undefined;
}

/**
 * The session with those questions open that the end of its patience has closed, which shows whether the step that is
 * taken for it is still needed.
 */
function asRequested(session: LookupSession): LookupSession {
  const failures = session.failures.filter(({ failure }) => failure.code !== 'CONSENT_PENDING');
  return { ...session, failures };
}

/**
 * The lookup of this operation to prompt for, or to spend a token on: bc-authorize fixes the operation by its scope, and the
 * window is one of the open ones that no failure has closed.
 */
export function mostUsefulLookup(
  original: Lookup,
  waiters: readonly Waiter[],
  ends: readonly ConsentEnd[],
  { identity, offer }: ConsentOperator,
): Lookup {
  switch (original.operation) {
    case 'retrieve-date':
      return original;
    case 'check': {
      const failed = ends.flatMap((end) =>
        end.kind === 'failed' && countsAt(end, identity) ? end : [],
      );
      const plans = waiters.map(({ session }) => ({
        ...session,
        failures: [...session.failures, ...failed],
      }));
      const maxAgeHours = nextWindowAmong(plans, offer);
      return maxAgeHours === undefined ? original : { operation: 'check', maxAgeHours };
    }
  }
}
