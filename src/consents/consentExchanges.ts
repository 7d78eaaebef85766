import type { FailedLookup } from '../domain/failedLookup.ts';
import type { Fact, TimedFact } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { Outcome } from '../http/resilience/guardedEndpoint.ts';
import type { Judgement } from '../operator/responses.ts';
import { COMMAND_TIMEOUT_MS, unlessLost } from '../sharedState/sharedStateLost.ts';
import type { TokenSubject } from '../tokens/accessToken.ts';
import {
  acknowledged,
  answered,
  countsAt,
  endedByLookup,
  endedByPoll,
  inDoubt,
  polled,
  refused,
  type ConsentIdentity,
  type Learned,
  type Pending,
  type Redeemed,
  type Requested,
} from './consentRecord.ts';
import { failureToTell, LOOK_AGAIN_MS, type ConsentView } from './consentView.ts';
import type { ExchangeContext, Polled, RequestedConsent } from '../tokens/tokenManager.ts';
import type { ReusableToken } from '../tokens/reusableToken.ts';
import type { AcknowledgementJudgement } from '../tokens/tokenResponses.ts';
import { BROKEN, type Ending } from '../lookups/lookupAuthorizer.ts';
import type { Claim, ConsentLedger, LedgerParts, ConsentSnapshot } from './consentLedger.ts';
import type { ConsentNotifier, NotifierParts } from './consentNotifier.ts';
import type { ConsentOperator } from './consentOperator.ts';
import type { Waiter, Waiters } from './consentWaiters.ts';
import { rejectionFailure, timed } from '../lookups/lookupRoute.ts';
import { nextWindowAmong } from '../lookups/planner.ts';

/**
 * What a step of a consent flow has done. There is no word for nothing: `told` is one request fewer that waits
 * or has a pending step.
 */
export type Progress = 'told' | 'exchanged' | 'wrote' | 'slept';

interface Shared {
  readonly ledger: ConsentLedger;
  readonly waiters: Waiters;
  readonly notifier: ConsentNotifier;
}

type Redeemable = Extract<Polled, { kind: 'acquired' }>;

type GoOn = Extract<Polled, { kind: 'go-on' }>;

/** Live consents go on, and make room when they end. */
const STORE_FULL: LookupFailure = {
  code: 'STATE_UNAVAILABLE',
  reach: 'number',
  retryAfterSeconds: 60,
};

/** A reply that takes longer was held back by the operator, and not its request by the way there. */
const MAX_WAY_MS = 500;

/**
 * The exchanges of one consent with its operator: the prompt, the polls, and the lookup. Each is claimed in the ledger, made,
 * told to the requests that wait, and written down. It runs to its own timeout, even if no request waits.
 */
export class ConsentExchanges {
  readonly #number: PhoneNumber;
  readonly #operator: ConsentOperator;
  readonly #parts: LedgerParts & NotifierParts;
  readonly #ledger: ConsentLedger;
  readonly #waiters: Waiters;
  readonly #notifier: ConsentNotifier;

  constructor(
    number: PhoneNumber,
    operator: ConsentOperator,
    parts: LedgerParts & NotifierParts,
    shared: Shared,
  ) {
    this.#number = number;
    this.#operator = operator;
    this.#parts = parts;
    this.#ledger = shared.ledger;
    this.#waiters = shared.waiters;
    this.#notifier = shared.notifier;
  }

  /** Prompts the owner once there is a permit for it. */
  async request(cause: Waiter, page: ConsentSnapshot): Promise<Progress> {
    const { clock } = this.#parts;
    const { requests } = this.#operator.bulkheads;
    const queuedAtMs = clock.monotonicMs();
    const permit = await requests.acquire(this.#waiters);
    if (permit !== 'acquired') return this.#failAll(rejectionFailure(permit));
    const acquiredAtMs = clock.monotonicMs();
    try {
      if (acquiredAtMs - queuedAtMs < LOOK_AGAIN_MS) return await this.#request(cause, page);
      // Much may have been learned since: that the operator refuses us, or the answer, by another process.
      const now = await this.#ledger.read(this.#operator);
      const isFree = now.lost === undefined && now.view.prompt.state === 'free';
      if (!isFree || this.#notifier.isKnownTo(cause, now)) return 'slept';
      if (!this.#notifier.hasRecalled(cause, now) && (await this.#notifier.tellKept(cause)))
        return 'told';
      return await this.#request(cause, now);
    } finally {
      requests.release(acquiredAtMs);
    }
  }

  /** Polls once there is a permit for it, and makes the lookup if the owner has consented. */
  async poll(
    cause: Waiter,
    page: ConsentSnapshot,
    pending: ConsentIdentity & Pending,
  ): Promise<Progress> {
    const { polls } = this.#operator.bulkheads;
    const permit = await polls.acquire(this.#waiters);
    if (permit !== 'acquired') return this.#failAll(rejectionFailure(permit));
    const acquiredAtMs = this.#parts.clock.monotonicMs();
    try {
      const claim = await this.#ledger.claimPoll(page, pending, this.#operator);
      switch (claim.kind) {
        case 'claimed':
          await this.#poll(cause, page, pending, claim);
          return 'exchanged';
        case 'conflict':
          return await this.#lookAgain();
        case 'late':
          return 'wrote';
      }
    } finally {
      polls.release(acquiredAtMs);
    }
  }

  async #request(cause: Waiter, page: ConsentSnapshot): Promise<Progress> {
    const lookup = this.#lookupToRequest(cause, page);
    const claim = await this.#ledger.claimRequest(page, lookup, this.#operator);
    switch (claim.kind) {
      case 'claimed':
        await this.#prompt(cause, lookup, claim);
        return 'exchanged';
      case 'conflict':
        return this.#lookAgain();
      case 'late':
        return 'wrote';
      case 'full':
        return this.#failAll(STORE_FULL);
      case 'lost':
        this.#failAll(this.#ledger.failureWithoutStore());
        await claim.takeBack();
        return 'told';
    }
  }

  #failAll(failure: LookupFailure): Progress {
    this.#waiters.fail(failure);
    return 'told';
  }

  async #prompt(
    cause: Waiter,
    lookup: Lookup,
    claim: Claim<ConsentIdentity & Requested>,
  ): Promise<void> {
    const { tokens, rules, admission } = this.#operator;
    const { consent, time } = claim;
    const sentAtMs = time.now();
    const asked = { event: 'consent-request', ...this.#asked(cause, lookup, consent.id) } as const;
    const admitted = await admission.admit(asked);
    if (admitted.kind === 'denied') {
      const denied = { kind: 'failed', failure: admitted.failure, mayHavePrompted: false } as const;
      return this.#requestFailed(lookup, claim, denied, time.now());
    }
    let requested: RequestedConsent | undefined;
    try {
      requested = await tokens.requestConsent(this.#subject(lookup), this.#context(cause));
    } finally {
      await admitted.ended(endingOfRequest(requested));
    }
    const { judged } = requested;
    const nowMs = time.now();
    switch (judged.kind) {
      case 'acknowledged': {
        const lives = acknowledged(consent, judged.acknowledged, sentAtMs, nowMs, rules);
        await this.#ledger.learn(claim, { kind: 'lives', lives });
        return;
      }
      case 'reply-lost':
        await this.#ledger.learn(claim, { kind: 'lives', lives: inDoubt(consent, nowMs) });
        return;
      case 'failed':
        await this.#requestFailed(lookup, claim, judged, nowMs);
        return;
      default:
        judged satisfies never;
    }
  }

  /** Tells why there is no consent to wait for, or that none may be asked for yet. */
  async #requestFailed(
    lookup: Lookup,
    claim: Claim<ConsentIdentity & Requested>,
    { failure, mayHavePrompted, holdSeconds }: FailedRequest,
    nowMs: number,
  ): Promise<void> {
    const { rules } = this.#operator;
    const { consent } = claim;
    if (mayHavePrompted) {
      await this.#notifier.tellFailure({ lookup, failure }, consent.operator);
      await this.#ledger.learn(claim, { kind: 'lives', lives: inDoubt(consent, nowMs) });
      return;
    }
    const lives = refused(consent, failure, holdSeconds, nowMs, rules);
    const told = lives === undefined ? failure : failureToTell(lives, nowMs);
    await this.#notifier.tellFailure({ lookup, failure: told }, consent.operator);
    if (lives === undefined) await this.#ledger.withdraw(claim);
    else await this.#ledger.learn(claim, { kind: 'lives', lives });
  }

  async #poll(
    cause: Waiter,
    page: ConsentSnapshot,
    pending: ConsentIdentity & Pending,
    claim: Claim<ConsentIdentity & Pending>,
  ): Promise<void> {
    const { tokens } = this.#operator;
    const { time } = claim;
    let sentAtMs = time.now();
    const subject = this.#subject(pending.lookup);
    const outcome = await tokens.poll(pending.authReqId, subject, {
      ...this.#context(cause),
      // A connection may take long to make, and this process may be held up.
      onFirstByte: () => {
        sentAtMs = time.now();
      },
    });
    switch (outcome.kind) {
      case 'acquired':
        await this.#redeem(cause, outcome, claim, page);
        return;
      case 'go-on': {
        const nowMs = time.now();
        const lives = polled(pending, outcome, arrivedBy(outcome, sentAtMs, nowMs), nowMs);
        await this.#ledger.learn(claim, { kind: 'lives', lives });
        return;
      }
      case 'failed':
        await this.#pollFailed(pending, claim, outcome.failure);
    }
  }

  async #pollFailed(
    pending: ConsentIdentity & Pending,
    claim: Claim<ConsentIdentity & Pending>,
    told: LookupFailure,
  ): Promise<void> {
    const nowMs = claim.time.now();
    const isTold = !this.#waiters.isEmpty;
    const learned = endedByPoll(pending, told, isTold, nowMs, this.#operator.rules);
    const failure = failureLearned(learned, nowMs) ?? told;
    await this.#notifier.tellFailure({ lookup: pending.lookup, failure }, pending.operator);
    await this.#ledger.learn(claim, learned);
  }

  /** The token goes out at once with the lookup that now helps most, even if no request waits any more. */
  async #redeem(
    cause: Waiter,
    { token, reusable }: Redeemable,
    claim: Claim<ConsentIdentity & Pending>,
    page: ConsentSnapshot,
  ): Promise<void> {
    const { admission, operator, identity } = this.#operator;
    const { clock } = this.#parts;
    const { id, lookup: original } = claim.consent;
    const spent = await this.#ledger.spend(claim);

    const lookup = this.#lookupToSpendOn(original, page);
    const admitted = await admission.admit({ event: 'lookup', ...this.#asked(cause, lookup, id) });
    if (admitted.kind === 'denied') {
      return this.#lookupFailed({ lookup, failure: admitted.failure }, cause, spent);
    }
    const leftAtMs = clock.monotonicMs();
    let exchanged: Outcome<Judgement<Fact>> | undefined;
    try {
      const order = { lookup, number: this.#number, token };
      exchanged = await operator.lookUp(order, this.#context(cause));
    } finally {
      await admitted.ended(endingOfLookup(exchanged));
    }
    const { judged } = exchanged;
    switch (judged.kind) {
      case 'answered': {
        // Before waiters have the answer: a request that wants more finds the token.
        if (reusable !== undefined) this.#keepToken(reusable, lookup, cause, id);
        // What the owner consented to, and nothing else that the reply may say.
        const own = judged.facts.filter(({ operation }) => operation === lookup.operation);
        const [fact] = timed(own, leftAtMs, false, identity, clock);
        await (fact === undefined
          ? this.#lookupFailed(judged.closed ?? { lookup, failure: UNTOLD }, cause, spent)
          : this.#succeed(fact, cause, spent));
        return;
      }
      case 'failed':
        await this.#lookupFailed({ lookup, failure: judged.failure }, cause, spent);
    }
  }

  #keepToken(
    token: ReusableToken,
    { operation }: Lookup,
    { session: { request } }: Waiter,
    consentId: string,
  ): void {
    const subject = { number: this.#number, operation };
    this.#operator.consentTokens?.keep(request, subject, token, consentId);
  }

  async #lookupFailed(
    told: FailedLookup,
    cause: Waiter,
    spent: Claim<ConsentIdentity & Redeemed>,
  ): Promise<void> {
    const { lookup } = told;
    const nowMs = spent.time.now();
    const failed = { lookup, failure: asOfConsent(told.failure) };
    const learned = endedByLookup(spent.consent, failed, nowMs, this.#operator.rules);
    const failure = failureLearned(learned, nowMs) ?? failed.failure;
    const made = { consentId: spent.consent.id, madeFor: cause.session.request };
    // Written before it is returned: if the replica dies in between, the next request gets the failure. One that
    // was returned and not written would ring the phone again.
    const learning = this.#ledger.learn(spent, learned);
    await this.#forOneCommand(learning);
    await this.#notifier.tellFailure({ lookup, failure }, spent.consent.operator, made);
    if (failure.barsAfterNumbers !== undefined) {
      const { refusals, rules } = this.#operator;
      await refusals
        .refuse(this.#number, lookup.operation, failure.barsAfterNumbers, rules.failureMs)
        .catch(unlessLost);
    }
    await learning;
  }

  /** Waits for a write, but not for a store that is lost longer than one command takes. */
  async #forOneCommand(writing: Promise<void>): Promise<void> {
    const written = new AbortController();
    const timeOver = this.#parts.clock
      .sleep(COMMAND_TIMEOUT_MS, written.signal)
      .catch(() => undefined);
    await Promise.race([writing.catch(() => undefined), timeOver]);
    written.abort();
  }

  async #succeed(fact: TimedFact, cause: Waiter, spent: Claim): Promise<void> {
    const { session } = cause;
    const { id } = spent.consent;
    await this.#notifier.tellFact(fact, id, session.request);
    // Requests may wait in other processes: they find the fact before they find the consent gone.
    await this.#ledger.untilDone(spent, () =>
      this.#parts.factCache.keep(session.request, this.#number, fact),
    );
    await this.#ledger.learn(spent, answered(spent.consent, spent.time.now()));
    await this.#operator.refusals.answered(fact.operation).catch(unlessLost);
  }

  /** The date first if a request wants it, since it may answer every window; else what helps most. */
  #lookupToRequest(cause: Waiter, page: ConsentSnapshot): Lookup {
    // A request that has come since the page was read may want what the owner is not to be prompted for.
    const wanted = this.#waiters
      .all()
      .filter((one) => one.operator === this.#operator && !this.#notifier.isKnownTo(one, page))
      .map((waiter) => waiter.wanted);
    const date = wanted.find(({ operation }) => operation === 'retrieve-date');
    return date ?? this.#lookupToSpendOn(wanted[0] ?? cause.wanted, page);
  }

  /**
   * bc-authorize fixed the operation by its scope; the window is free until now, and is chosen among the
   * open questions of the requests that wait, but for those that a failed lookup has closed.
   */
  #lookupToSpendOn(original: Lookup, { view }: ConsentSnapshot): Lookup {
    switch (original.operation) {
      case 'retrieve-date':
        return original;
      case 'check':
        return this.#windowToSpendOn(view) ?? original;
    }
  }

  #windowToSpendOn(view: ConsentView): Lookup | undefined {
    const { identity, offer } = this.#operator;
    const failed = view.ends
      .filter((end) => end.kind === 'failed')
      .filter((end) => countsAt(end, identity));
    const plans = this.#waiters.all().map(({ session }) => ({
      ...session,
      failures: [...session.failures, ...failed],
    }));
    const maxAgeHours = nextWindowAmong(plans, offer);
    return maxAgeHours === undefined ? undefined : { operation: 'check', maxAgeHours };
  }

  /** Another process, or another caller, was first: what it does takes some time. */
  async #lookAgain(): Promise<Progress> {
    await this.#parts.clock.sleep(LOOK_AGAIN_MS);
    return 'slept';
  }

  /** Traced to a request, but not ended with it. */
  #context({ request: { correlator } }: Waiter): ExchangeContext {
    const deadlineMs = this.#parts.clock.monotonicMs() + this.#operator.exchangeMs;
    return { correlator, deadlineMs };
  }

  /** Audited for the request that the step is taken for; the others have lines of their own when they hear. */
  #asked({ session: { request } }: Waiter, lookup: Lookup, consentId: string) {
    return { lookup, number: this.#number, request, consentId };
  }

  #subject({ operation }: Lookup): TokenSubject {
    return { number: this.#number, operation };
  }
}

/** The reply says nothing of what was asked. */
const UNTOLD: LookupFailure = { code: 'OPERATOR_INVALID_REPLY', reach: 'operation' };

type FailedRequest = Extract<AcknowledgementJudgement, { kind: 'failed' }>;

function endingOfRequest(requested: RequestedConsent | undefined): Ending {
  switch (requested?.judged.kind) {
    case undefined:
      return BROKEN;
    case 'acknowledged':
    // Nothing is known of it but that it was sent.
    case 'reply-lost':
      return { outcome: 'asked', attempts: requested.attempts };
    case 'failed':
      return { outcome: requested.judged.failure.code, attempts: requested.attempts };
  }
}

function endingOfLookup(exchanged: Outcome<Judgement<Fact>> | undefined): Ending {
  switch (exchanged?.judged.kind) {
    case undefined:
      return BROKEN;
    case 'answered':
      return { outcome: 'answered', attempts: exchanged.attempts };
    case 'failed':
      return { outcome: exchanged.judged.failure.code, attempts: exchanged.attempts };
  }
}

/** What was learned as a failure to tell, where it is remembered as one. */
function failureLearned(learned: Learned, nowMs: number): LookupFailure | undefined {
  switch (learned.kind) {
    case 'lives':
      return learned.lives.state === 'closed' ? failureToTell(learned.lives, nowMs) : undefined;
    case 'ended':
      return learned.ended.kind === 'failed' ? failureToTell(learned.ended, nowMs) : undefined;
  }
}

/**
 * The operator counts the interval from when a poll arrives, which is some time between its first byte and
 * its reply. One without a reply may arrive as late as it is given up.
 */
function arrivedBy({ goOn }: GoOn, sentAtMs: number, nowMs: number): number {
  return goOn === 'no_reply' ? nowMs : Math.min(nowMs, sentAtMs + MAX_WAY_MS);
}

/**
 * A reply that cannot be trusted answers one question. Where each question takes a prompt, it speaks for
 * the operation: the next window would ring the owner's phone for a reply of the same kind.
 */
function asOfConsent(failure: LookupFailure): LookupFailure {
  return failure.code === 'OPERATOR_INVALID_REPLY' ? { ...failure, reach: 'operation' } : failure;
}
