import type { FailedLookup } from '../domain/failedLookup.ts';
import type { Fact } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { Outcome } from '../http/resilience/guardedEndpoint.ts';
import type { FactCache } from '../lookups/factCache.ts';
import { BROKEN, type Ending } from '../lookups/lookupAuthorizer.ts';
import { rejectionFailure, timed, type LookupRequest } from '../lookups/lookupRoute.ts';
import { nextWindowAmong } from '../lookups/planner.ts';
import type { Judgement } from '../operator/responses.ts';
import { COMMAND_TIMEOUT_MS, unlessLost } from '../sharedState/sharedStateLost.ts';
import type { ExchangeContext, Polled, RequestedConsent } from '../tokens/tokenManager.ts';
import type { AcknowledgementJudgement } from '../tokens/tokenResponses.ts';
import {
  acknowledged,
  answered,
  countsAt,
  endedByLookup,
  endedByPoll,
  failureIn,
  inDoubt,
  polled,
  refused,
  type Consent,
  type Learned,
  type Pending,
  type Redeemed,
  type Requested,
} from './consentRecord.ts';
import { failureToTell, LOOK_AGAIN_MS } from './consentView.ts';
import type { Claim, ConsentLedger, LedgerParts, ConsentSnapshot } from './consentLedger.ts';
import type { ConsentOperator } from './consentOperator.ts';
import { knownFrom, type Waiter, type Waiters } from './consentWaiters.ts';

/**
 * What a step of a consent flow has done. There is no word for nothing: `told` is one request fewer that waits
 * or has a pending step.
 */
export type Progress = 'told' | 'exchanged' | 'wrote' | 'slept';

/** Live consents go on, and make room when they end. */
const STORE_FULL: LookupFailure = {
  code: 'STATE_UNAVAILABLE',
  reach: 'number',
  retryAfterSeconds: 60,
};

/** A reply that takes longer was held back by the operator, and not its request by the way there. */
const MAX_WAY_MS = 500;

/** The reply says nothing of what was asked. */
const UNTOLD: LookupFailure = { code: 'OPERATOR_INVALID_REPLY', reach: 'operation' };

export interface ExchangeParts extends LedgerParts {
  readonly factCache: FactCache;
}

/**
 * The exchanges of one caller's consents about one number: the prompt, the polls, and the lookup. Each is claimed in the
 * ledger, made, told to the requests that wait, and written down. It runs to its own timeout, even if no request waits.
 */
export class ConsentExchanges {
  readonly #number: PhoneNumber;
  readonly #parts: ExchangeParts;
  readonly #ledger: ConsentLedger;
  readonly #waiters: Waiters;

  constructor(number: PhoneNumber, parts: ExchangeParts, ledger: ConsentLedger, waiters: Waiters) {
    this.#number = number;
    this.#parts = parts;
    this.#ledger = ledger;
    this.#waiters = waiters;
  }

  /** Prompts the owner once there is a permit for it. */
  async request(cause: Waiter, page: ConsentSnapshot): Promise<Progress> {
    const { clock } = this.#parts;
    const { operator } = cause;
    const { requests } = operator.bulkheads;
    const queuedAtMs = clock.monotonicMs();
    const permit = await requests.acquire(this.#waiters);
    if (permit !== 'acquired') return this.#waiters.fail(rejectionFailure(permit));
    const acquiredAtMs = clock.monotonicMs();
    try {
      let current = page;
      if (acquiredAtMs - queuedAtMs >= LOOK_AGAIN_MS) {
        // Much may have been learned since: that the operator refuses us, or the answer, by another process.
        current = await this.#ledger.read(operator);
        const isFree = current.lost === undefined && current.view.prompt.state === 'free';
        if (!isFree || knownFrom(current, cause) !== undefined) return 'slept';
        if (!this.#waiters.hasRecalled(cause, current) && (await this.#waiters.tellKept(cause)))
          return 'told';
      }
      const lookup = this.#lookupToRequest(cause, current);
      const claim = await this.#ledger.claimRequest(current, lookup, operator);
      switch (claim.kind) {
        case 'claimed':
          await this.#prompt(cause, lookup, claim);
          return 'exchanged';
        case 'conflict':
          return await this.#lookAgain();
        case 'late':
          return 'wrote';
        case 'full':
          return this.#waiters.fail(STORE_FULL);
        case 'lost':
          this.#waiters.fail(this.#ledger.failureWithoutStore());
          await claim.takeBack();
          return 'told';
      }
    } finally {
      requests.release(acquiredAtMs);
    }
  }

  async #prompt(cause: Waiter, lookup: Lookup, claim: Claim<Requested>): Promise<void> {
    const { tokens, rules, admission } = cause.operator;
    const { request } = cause.session;
    const { consent, time } = claim;
    const number = this.#number;
    const sentAtMs = time.now();
    const event = { event: 'consent-request', lookup, number, request } as const;
    const admitted = await admission.admit({ ...event, consentId: consent.id });
    if (admitted.kind === 'denied') {
      const denied = { kind: 'failed', failure: admitted.failure, mayHavePrompted: false } as const;
      return this.#requestFailed(lookup, claim, denied, cause.operator);
    }
    let exchanged: RequestedConsent | undefined;
    try {
      const subject = { number, operation: lookup.operation };
      exchanged = await tokens.requestConsent(subject, this.#context(cause, cause.operator));
    } finally {
      // Of one without a reply nothing is known but that it was sent.
      await admitted.ended(endingOf(exchanged, 'asked'));
    }
    const { judged } = exchanged;
    const nowMs = time.now();
    let lives: Consent;
    switch (judged.kind) {
      case 'acknowledged':
        lives = acknowledged(consent, judged.acknowledged, sentAtMs, nowMs, rules);
        break;
      case 'reply-lost':
        lives = inDoubt(consent, nowMs);
        break;
      case 'failed':
        return this.#requestFailed(lookup, claim, judged, cause.operator);
    }
    await this.#ledger.learn(claim, { kind: 'lives', lives });
  }

  /** Tells why there is no consent to wait for, or that none may be asked for yet. */
  async #requestFailed(
    lookup: Lookup,
    claim: Claim<Requested>,
    { failure, mayHavePrompted, holdSeconds }: FailedRequest,
    { rules }: ConsentOperator,
  ): Promise<void> {
    const { consent } = claim;
    const nowMs = claim.time.now();
    const lives = mayHavePrompted
      ? inDoubt(consent, nowMs)
      : refused(consent, failure, holdSeconds, nowMs, rules);
    const learned: Learned =
      lives === undefined ? { kind: 'withdrawn', id: consent.id } : { kind: 'lives', lives };
    const told = failureTold(learned, nowMs) ?? failure;
    await this.#waiters.tellFailure({ lookup, failure: told }, consent.operator);
    await this.#ledger.learn(claim, learned);
  }

  /** Polls once there is a permit for it, and makes the lookup if the owner has consented. */
  async poll(
    cause: Waiter,
    page: ConsentSnapshot,
    pending: Pending,
    operator: ConsentOperator,
  ): Promise<Progress> {
    const { polls } = operator.bulkheads;
    const permit = await polls.acquire(this.#waiters);
    if (permit !== 'acquired') return this.#waiters.fail(rejectionFailure(permit));
    const acquiredAtMs = this.#parts.clock.monotonicMs();
    try {
      const claim = await this.#ledger.claimPoll(page, pending, operator);
      if (claim.kind === 'conflict') return await this.#lookAgain();
      if (claim.kind === 'late') return 'wrote';
      const { lookup, authReqId } = pending;
      const { time } = claim;
      let sentAtMs = time.now();
      const subject = { number: this.#number, operation: lookup.operation };
      const outcome = await operator.tokens.poll(authReqId, subject, {
        ...this.#context(cause, operator),
        // A connection may take long to make, and this process may be held up.
        onFirstByte: () => {
          sentAtMs = time.now();
        },
      });
      const nowMs = time.now();
      switch (outcome.kind) {
        case 'acquired':
          await this.#redeem(cause, page, outcome, claim, operator);
          break;
        case 'go-on': {
          // The operator counts the interval from when a poll arrives, which is some time between its first byte and
          // its reply. One without a reply may arrive as late as it is given up.
          const latestMs = outcome.goOn === 'no_reply' ? nowMs : sentAtMs + MAX_WAY_MS;
          const lives = polled(pending, outcome, Math.min(nowMs, latestMs), nowMs);
          await this.#ledger.learn(claim, { kind: 'lives', lives });
          break;
        }
        case 'failed': {
          const isTold = this.#waiters.first !== undefined;
          const learned = endedByPoll(pending, outcome.failure, isTold, nowMs, operator.rules);
          const failure = failureTold(learned, nowMs) ?? outcome.failure;
          await this.#waiters.tellFailure({ lookup, failure }, pending.operator);
          await this.#ledger.learn(claim, learned);
        }
      }
      return 'exchanged';
    } finally {
      polls.release(acquiredAtMs);
    }
  }

  /** The token goes out at once with the lookup that now helps most, even if no request waits any more. */
  async #redeem(
    cause: Waiter,
    page: ConsentSnapshot,
    { token, reusable }: Extract<Polled, { kind: 'acquired' }>,
    claim: Claim<Pending>,
    operator: ConsentOperator,
  ): Promise<void> {
    const { clock, factCache } = this.#parts;
    const { request } = cause.session;
    const number = this.#number;
    const spent = await this.#ledger.spend(claim, operator.rules);
    const { id: consentId } = spent.consent;
    const failed = (told: FailedLookup) => this.#lookupFailed(told, request, spent, operator);

    const lookup = this.#lookupToSpendOn(spent.consent.lookup, page, operator);
    const event = { event: 'lookup', lookup, number, request, consentId } as const;
    const admitted = await operator.admission.admit(event);
    if (admitted.kind === 'denied') return failed({ lookup, failure: admitted.failure });
    const leftAtMs = clock.monotonicMs();
    let exchanged: Outcome<Judgement<Fact>> | undefined;
    try {
      const order = { lookup, number, token };
      exchanged = await operator.operator.lookUp(order, this.#context(cause, operator));
    } finally {
      await admitted.ended(endingOf(exchanged, 'answered'));
    }
    const { judged } = exchanged;
    if (judged.kind === 'failed') return failed({ lookup, failure: judged.failure });
    // Before waiters have the answer: a request that wants more finds the token.
    if (reusable !== undefined) {
      const subject = { number, operation: lookup.operation };
      operator.consentTokens?.keep(request, subject, reusable, consentId);
    }
    // What the owner consented to, and nothing else that the reply may say.
    const own = judged.facts.filter(({ operation }) => operation === lookup.operation);
    const [fact] = timed(own, leftAtMs, false, operator.identity, clock);
    if (fact === undefined) return failed(judged.closed ?? { lookup, failure: UNTOLD });
    await this.#waiters.tellFact(fact, consentId, request);
    // Requests may wait in other processes: they find the fact before they find the consent gone.
    await this.#ledger.untilDone(spent, () => factCache.keep(request, number, fact));
    await this.#ledger.learn(spent, answered(spent.consent, spent.time.now()));
    await operator.refusals.answered(fact.operation).catch(unlessLost);
  }

  /** @param madeFor the request in whose name the lookup is audited */
  async #lookupFailed(
    { lookup, failure }: FailedLookup,
    madeFor: LookupRequest,
    spent: Claim<Redeemed>,
    { refusals, rules }: ConsentOperator,
  ): Promise<void> {
    const { consent } = spent;
    const nowMs = spent.time.now();
    const failed = { lookup, failure: asOfConsent(failure) };
    const learned = endedByLookup(consent, failed, nowMs, rules);
    const told = { lookup, failure: failureTold(learned, nowMs) ?? failed.failure };
    // Written before it is returned: if the replica dies in between, the next request gets the failure. One that
    // was returned and not written would ring the phone again.
    const learning = this.#ledger.learn(spent, learned);
    // A store that is lost longer than one command takes is not waited for.
    const written = new AbortController();
    learning.finally(() => written.abort()).catch(() => undefined);
    await this.#parts.clock.sleep(COMMAND_TIMEOUT_MS, written.signal).catch(() => undefined);
    await this.#waiters.tellFailure(told, consent.operator, { consentId: consent.id, madeFor });
    const { barsAfterNumbers } = told.failure;
    if (barsAfterNumbers !== undefined) {
      await refusals
        .refuse(this.#number, lookup.operation, barsAfterNumbers, rules.failureMs)
        .catch(unlessLost);
    }
    await learning;
  }

  /** The date first if a request wants it, since it may answer every window; else what helps most. */
  #lookupToRequest({ operator, wanted }: Waiter, page: ConsentSnapshot): Lookup {
    // A request that has come since the page was read may want what the owner is not to be prompted for.
    let first: Lookup | undefined;
    for (const one of this.#waiters.all()) {
      if (one.operator !== operator || knownFrom(page, one) !== undefined) continue;
      if (one.wanted.operation === 'retrieve-date') return one.wanted;
      first ??= one.wanted;
    }
    return this.#lookupToSpendOn(first ?? wanted, page, operator);
  }

  /**
   * bc-authorize fixed the operation by its scope; the window is free until now, and is chosen among the
   * open questions of the requests that wait, but for those that a failed lookup has closed.
   */
  #lookupToSpendOn(
    original: Lookup,
    { view }: ConsentSnapshot,
    { identity, offer }: ConsentOperator,
  ): Lookup {
    switch (original.operation) {
      case 'retrieve-date':
        return original;
      case 'check': {
        const failed = view.ends
          .filter((end) => end.kind === 'failed')
          .filter((end) => countsAt(end, identity));
        const plans = this.#waiters.all().map(({ session }) => ({
          ...session,
          failures: [...session.failures, ...failed],
        }));
        const maxAgeHours = nextWindowAmong(plans, offer);
        return maxAgeHours === undefined ? original : { operation: 'check', maxAgeHours };
      }
    }
  }

  /** Another process, or another caller, was first: what it does takes some time. */
  async #lookAgain(): Promise<Progress> {
    await this.#parts.clock.sleep(LOOK_AGAIN_MS);
    return 'slept';
  }

  /** Traced to a request, but not ended with it. */
  #context({ session }: Waiter, { exchangeMs }: ConsentOperator): ExchangeContext {
    const deadlineMs = this.#parts.clock.monotonicMs() + exchangeMs;
    return { correlator: session.request.correlator, deadlineMs };
  }
}

type FailedRequest = Extract<AcknowledgementJudgement, { kind: 'failed' }>;

/** @param done what the audit log says of one that did not fail */
function endingOf(
  exchanged:
    Pick<Outcome<AcknowledgementJudgement | Judgement<Fact>>, 'judged' | 'attempts'> | undefined,
  done: Ending['outcome'],
): Ending {
  if (exchanged === undefined) return BROKEN;
  const { judged, attempts } = exchanged;
  return { outcome: judged.kind === 'failed' ? judged.failure.code : done, attempts };
}

/** What was learned as a failure to tell, where it is remembered as one. */
function failureTold(learned: Learned, nowMs: number): LookupFailure | undefined {
  const failure = failureIn(learned);
  return failure === undefined ? undefined : failureToTell(failure, nowMs);
}

/**
 * A reply that cannot be trusted answers one question. Where each question takes a prompt, it speaks for
 * the operation: the next window would ring the owner's phone for a reply of the same kind.
 */
function asOfConsent(failure: LookupFailure): LookupFailure {
  return failure.code === 'OPERATOR_INVALID_REPLY' ? { ...failure, reach: 'operation' } : failure;
}
