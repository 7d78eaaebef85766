import type { FailedLookup, Fact, TimedFact } from '../domain/fact.ts';
import type { CallerKey } from '../domain/identity.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { Outcome } from '../resilience/guardedEndpoint.ts';
import type { FactCache } from '../lookups/factCache.ts';
import { BROKEN_ENDING, type Ending } from '../lookups/lookupAuthorizer.ts';
import { lookupFailed, timed, type LookupRequest } from '../lookups/lookupRoute.ts';
import type { Judgement } from '../operator/responses.ts';
import { COMMAND_TIMEOUT_MS, SharedStateLost, unlessLost } from '../sharedState/redis.ts';
import { withinTime } from '../system/clock.ts';
import type { PerTurn } from '../system/perTurn.ts';
import type { RequestedConsent } from '../tokens/tokenManager.ts';
import type { AcknowledgementJudgement, IssuedToken } from '../tokens/tokenResponses.ts';
import {
  ConsentLedger,
  LOOK_AGAIN_MS,
  type Claim,
  type ConsentOperator,
  type ConsentSnapshot,
  type LedgerParts,
  type Spent,
} from './consentLedger.ts';
import {
  answered,
  failureIn,
  lookupEnded,
  pollEnded,
  requestEnded,
  type Granted,
  type Learned,
  type Redeemed,
  type Requested,
} from './consentRecord.ts';
import { failureToReturn } from './consentView.ts';
import { Waiters, type Waiter } from './consentWaiters.ts';
import {
  mostUsefulLookup,
  mostSteps,
  nextStep,
  type Recall,
  type Step,
  type StepOf,
} from './nextStep.ts';

export interface ConsentFlowParts extends LedgerParts {
  readonly factCache: FactCache;
  /** The operators that can be polled, by their identities. */
  readonly operators: ReadonlyMap<string, ConsentOperator>;
  /** The flows under way, by caller key: each removes itself. */
  readonly flows: Map<string, ConsentFlow>;
  /** Of all flows: a poll does not wait behind prompts, or owners would be prompted whose answer nobody waits for. */
  readonly exchanges: Readonly<Record<keyof ConsentOperator['bulkheads'], PerTurn>>;
}

/** The record has not been read yet. */
const PENDING = { code: 'CONSENT_PENDING', reach: 'number', retryAfterSeconds: 1 } as const;
const STORE_LOST = { code: 'STATE_UNAVAILABLE', reach: 'number', retryAfterSeconds: 1 } as const;
/** Live consents continue, and free their place when they end. */
const STORE_FULL = { ...STORE_LOST, retryAfterSeconds: 60 };

const FACT_MISSING: LookupFailure = { code: 'OPERATOR_INVALID_REPLY', reach: 'operation' };

/**
 * Pursues consent about one number for the requests of one caller, as long as one of them waits: at the operator that
 * the record names, otherwise at the operator of the request.
 *
 * The record in the store decides the next step, which answers a request, waits, writes, or makes an exchange. An
 * exchange (the prompt, a poll, the lookup) is claimed in the ledger, made, recorded, and returned to the waiters. It
 * runs to its own timeout, even if no request waits.
 */
export class ConsentFlow {
  readonly #firstRead = Promise.withResolvers<void>();
  /** Resolves once the record was read and its answers were returned; no request's patience ends before that. */
  readonly firstRead = this.#firstRead.promise;
  /** Resolves when no request waits and nothing is under way; never rejects. */
  running: Promise<void> | undefined;
  readonly #number: PhoneNumber;
  readonly #callerKey: string;
  readonly #parts: ConsentFlowParts;
  readonly #waiters = new Waiters();
  readonly #ledger: ConsentLedger;
  readonly #recalls = new WeakMap<Waiter, Recall>();
  #page: ConsentSnapshot | undefined;
  #readFor: ConsentOperator | undefined;
  /** The steps since the last one that slept, wrote or made an exchange, or since other requests wait. */
  #steps = 0;
  #wake: (() => void) | undefined;

  /** @param callerKey as {@link hashedCallerKey} names it */
  constructor(number: PhoneNumber, callerKey: string, parts: ConsentFlowParts) {
    this.#number = number;
    this.#callerKey = callerKey;
    this.#parts = parts;
    this.#ledger = new ConsentLedger(number, callerKey, parts);
  }

  join(waiter: Waiter): void {
    this.#waiters.add(waiter);
    this.#steps = 0;
    // The record may answer the new waiter.
    this.#wake?.();
    this.running ??= this.#run();
  }

  /** A waiter leaves, with what its caller may know about the consent. */
  leave(waiter: Waiter): void {
    this.#waiters.remove(waiter);
    this.#steps = 0;
    if (this.#waiters.count === 0) this.#wake?.();
    waiter.settle(lookupFailed(waiter.wanted, this.#ledger.failureNow(PENDING)));
  }

  async #run(): Promise<void> {
    try {
      // Between the last step and the end no request can join.
      for (let step = this.#nextStep(); step.kind !== 'end'; step = this.#nextStep()) {
        await this.#take(step);
      }
    } catch (error) {
      if (error instanceof SharedStateLost) this.#waiters.fail(this.#ledger.failureNow(STORE_LOST));
      else this.#waiters.reject(error);
    } finally {
      this.#firstRead.resolve();
      this.running = undefined;
      this.#parts.flows.delete(this.#callerKey);
    }
  }

  #nextStep(): Step {
    const { clock, operators } = this.#parts;
    const { waiters, pendingCause } = this.#waiters;
    const known = { readFor: this.#readFor, recalls: this.#recalls, operators };
    const step = nextStep(this.#page, { waiters, pendingCause }, known, clock.nowMs());
    this.#steps += 1;
    if (this.#steps > mostSteps(waiters.length))
      throw new Error('The steps of a consent do not end.');
    if (step.kind === 'read' || step.kind === 'recall') {
      this.#waiters.decide();
      return step;
    }
    this.#waiters.decidedFor = undefined;
    if (step.kind !== 'end' && step.kind !== 'answer') {
      this.#steps = 0;
      if (step.kind !== 'restore') this.#firstRead.resolve();
    }
    this.#page = undefined;
    return step;
  }

  async #take(step: Exclude<Step, { kind: 'end' }>): Promise<void> {
    switch (step.kind) {
      case 'read':
        this.#page = this.#ledger.pageAtHand() ?? (await this.#ledger.read(step.operator));
        this.#readFor = step.operator;
        return undefined;
      case 'recall':
        if (step.mayPatienceEnd) this.#firstRead.resolve();
        return this.#recall(step);
      case 'answer': {
        const { count } = this.#waiters;
        const expiredIds = await this.#waiters.answer((waiter) => step.answers.get(waiter));
        if (this.#waiters.count < count) this.#steps = 0;
        if (expiredIds.length > 0) await this.#ledger.markDelivered(step.page, expiredIds);
        return undefined;
      }
      case 'restore': {
        const written = await this.#ledger.restore(step.page, step.lost, step.operator);
        return typeof written === 'string' ? this.#lookAgain() : undefined;
      }
      case 'prompt':
      case 'poll':
      case 'spend':
        return this.#takeWithPermit(step);
      case 'sleep':
        return this.#sleepUntil(step.untilMs);
      case 'fail':
        return this.#waiters.fail(step.failure);
    }
  }

  async #recall({ waiters, page: { version } }: StepOf<'recall'>): Promise<void> {
    const recalling = waiters.map(async (waiter) => {
      const { request } = waiter.session;
      const { factCache } = this.#parts;
      const recalled = await factCache.recall(request, this.#number, request.cameInAtMs);
      this.#recalls.set(waiter, { ...recalled, version });
    });
    await Promise.all(recalling);
  }

  /** Another process, or another caller, was first: its step takes some time. */
  #lookAgain(): Promise<void> {
    return this.#sleepUntil(this.#parts.clock.monotonicMs() + LOOK_AGAIN_MS);
  }

  /** Sleeps until then by our own clock, or until a request joins or the last one leaves. */
  async #sleepUntil(atMs: number): Promise<void> {
    if (this.#waiters.count === 0) return;
    const { clock } = this.#parts;
    const { promise: awake, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    this.#waiters.ownerWait(true);
    // A timer may be early by less than a millisecond.
    const sleepOn = (): void => {
      const leftMs = atMs - clock.monotonicMs();
      if (leftMs <= 0) resolve();
      else cancel = clock.after(leftMs, sleepOn);
    };
    let cancel = clock.after(Math.max(1, atMs - clock.monotonicMs()), sleepOn);
    await awake;
    cancel();
    this.#waiters.ownerWait(false);
  }

  /** Fails all waiting requests where no permit is available: as pending, where the owner has been prompted. */
  async #takeWithPermit(step: StepOf<'prompt' | 'poll' | 'spend'>): Promise<void> {
    const { clock, exchanges } = this.#parts;
    const work = step.kind === 'prompt' ? 'requests' : 'polls';
    const bulkhead = step.operator.bulkheads[work];
    const queuedAtMs = clock.monotonicMs();
    const permit = await bulkhead.acquire(this.#waiters);
    if (permit !== 'acquired') return this.#waiters.fail(this.#ledger.failureNow(permit));
    const acquiredAtMs = clock.monotonicMs();
    try {
      const { promise: turn, resolve } = Promise.withResolvers<void>();
      exchanges[work].call(resolve);
      await turn;
      switch (step.kind) {
        case 'prompt':
          return await this.#prompt(step, clock.monotonicMs() - queuedAtMs);
        case 'poll':
          return await this.#poll(step);
        case 'spend':
          return await this.#spend(step);
      }
    } finally {
      bulkhead.release(acquiredAtMs);
    }
  }

  /** @param queuedMs while it waited, another process may have received a refusal or the answer */
  async #prompt({ operator, cause, page }: StepOf<'prompt'>, queuedMs: number): Promise<void> {
    this.#waiters.decidedFor = cause;
    if (queuedMs < LOOK_AGAIN_MS) this.#page = page;
    let step = this.#nextStep();
    for (; step.kind === 'read' || step.kind === 'recall'; step = this.#nextStep()) {
      await this.#take(step);
    }
    if (step.kind !== 'prompt' || step.operator !== operator) return;
    const claim = await this.#ledger.claimRequest(step.page, step.lookup, operator);
    switch (claim.kind) {
      case 'claimed':
        return this.#requestConsent(step.cause, claim);
      case 'conflict':
        return this.#lookAgain();
      case 'late':
        return undefined;
      case 'full':
        return this.#waiters.fail(STORE_FULL);
      case 'lost':
        this.#waiters.fail(this.#ledger.failureNow(STORE_LOST));
        await claim.takeBack();
    }
  }

  async #requestConsent(cause: Waiter, claim: Claim<Requested>): Promise<void> {
    const { operator, session } = cause;
    const { consent } = claim;
    const { id: consentId, lookup } = consent;
    const number = this.#number;
    const { request } = session;
    const event = { event: 'consent-request', lookup, number, request, consentId } as const;
    const admitted = await operator.admission.admit(event);
    let judged: AcknowledgementJudgement;
    if (admitted.kind === 'denied') {
      judged = { kind: 'failed', failure: admitted.failure, mayHavePrompted: false };
    } else {
      let exchanged: RequestedConsent | undefined;
      try {
        const { subject, context } = this.#exchangeFor(request, lookup, operator);
        exchanged = await operator.tokens.requestConsent(subject, context);
      } finally {
        // Without a reply it is only known that the request was sent.
        await admitted.ended(endingOf(exchanged, 'asked'));
      }
      ({ judged } = exchanged);
    }
    const nowMs = this.#ledger.nowMs();
    const learned = requestEnded(consent, judged, claim.nowMs, nowMs, operator.rules);
    if (judged.kind !== 'failed') await this.#ledger.learn(claim, learned);
    else await this.#failed({ lookup, failure: judged.failure }, claim, learned, nowMs, operator);
  }

  /**
   * Writes the outcome of an exchange that failed, and returns its failure, with the time for which that is remembered.
   *
   * @param made the lookup's consent and the request that it is audited for; absent where no lookup was made
   */
  async #failed(
    { lookup, failure }: FailedLookup,
    claim: Claim,
    learned: Learned,
    nowMs: number,
    { refusals, rules }: ConsentOperator,
    made?: { readonly consentId: string; readonly madeFor: LookupRequest },
  ): Promise<void> {
    const remembered = failureIn(learned);
    const returned = remembered === undefined ? failure : failureToReturn(remembered, nowMs);
    await this.#onceWritten(this.#ledger.learn(claim, learned), async () => {
      await this.#waiters.failFor({ lookup, failure: returned }, claim.consent.operator, made);
      const { barsAfterNumbers } = returned;
      if (barsAfterNumbers === undefined) return;
      await refusals
        .refuse(this.#number, lookup.operation, barsAfterNumbers, rules.failureMs)
        .catch(unlessLost);
    });
  }

  async #poll({ page, cause, pending, operator }: StepOf<'poll'>): Promise<void> {
    const claim = await this.#ledger.claimPoll(page, pending, operator);
    if (claim.kind === 'conflict') return this.#lookAgain();
    if (claim.kind === 'late') return;
    const { lookup, authReqId } = pending;
    let sentAtMs = claim.nowMs;
    // Traced to a request, but not cancelled with it.
    const { subject, context } = this.#exchangeFor(cause.session.request, lookup, operator);
    const outcome = await operator.tokens.poll(authReqId, subject, {
      ...context,
      // Making a connection may take long, and this process may have been suspended.
      onFirstByte: () => {
        sentAtMs = this.#ledger.nowMs();
      },
    });
    const nowMs = this.#ledger.nowMs();
    if (outcome.kind === 'issued') {
      const { issued } = outcome;
      const granted = await this.#ledger.grant(claim, issued, operator);
      if (granted !== undefined) await this.#redeem(cause, page, granted, issued, operator);
      return;
    }
    const isTold = this.#waiters.count > 0;
    const times = { sentAtMs, nowMs, isTold, doubtUntilMs: page.doubtUntilMs };
    const learned = pollEnded(pending, outcome, times, operator.rules);
    const isInDoubt = learned.kind === 'lives' && learned.lives.state === 'requested';
    if (outcome.kind !== 'failed' || isInDoubt) await this.#ledger.learn(claim, learned);
    else await this.#failed({ lookup, failure: outcome.failure }, claim, learned, nowMs, operator);
  }

  /** Spends a token whose lookup has not left yet, here or in another replica. */
  async #spend({ page, cause, granted, operator }: StepOf<'spend'>): Promise<void> {
    // The token may have ended while its lookup waited for the permit.
    if (granted.untilMs <= this.#ledger.nowMs()) {
      return this.#sleepUntil(granted.untilMs - page.time.minAheadMs);
    }
    const claim = await this.#ledger.claimGranted(page, granted, operator);
    if (claim.kind === 'conflict') return this.#lookAgain();
    const leftAtMs = this.#parts.clock.monotonicMs();
    const expiresAtMs = leftAtMs + granted.untilMs - this.#ledger.nowMs();
    const issued = { value: granted.token, leftAtMs, expiresAtMs };
    await this.#redeem(cause, page, claim, issued, operator);
  }

  /**
   * The token is spent on the lookup that helps most now, even if no request waits any longer. It stays granted where
   * that lookup was not carried out.
   */
  async #redeem(
    cause: Waiter,
    page: ConsentSnapshot,
    claim: Claim<Granted>,
    issued: IssuedToken,
    operator: ConsentOperator,
  ): Promise<void> {
    const { clock } = this.#parts;
    const { request } = cause.session;
    const number = this.#number;
    const { id: consentId } = claim.consent;
    const lookup = mostUsefulLookup(
      claim.consent.lookup,
      this.#waiters.waiters,
      page.ends,
      operator,
    );
    const event = { event: 'lookup', lookup, number, request, consentId } as const;
    const admitted = await operator.admission.admit(event);
    if (admitted.kind === 'denied') return this.#unspent(claim, claim.consent, admitted.failure);
    request.onBegun?.();

    let ending: Ending = { outcome: 'STATE_UNAVAILABLE', attempts: 0 };
    let spent: Spent | undefined;
    let exchanged: Outcome<Judgement<Fact>>;
    let fact: TimedFact | undefined;
    let keeping: Promise<void> | undefined;
    let regranting: Promise<unknown> | undefined;
    try {
      spent = await this.#ledger.spend(claim, operator);
      if (spent === undefined) return;
      if (spent.isLate) return await this.#unspent(spent, claim.consent, STORE_LOST);
      const { subject, context } = this.#exchangeFor(request, lookup, operator);
      const { token, reusable } = operator.tokens.rightTo(subject, issued);
      const leftAtMs = clock.monotonicMs();
      ending = BROKEN_ENDING;
      exchanged = await operator.operator.lookUp({ lookup, number, token }, context);
      ending = endingOf(exchanged, 'answered');
      const { judged, mayHaveBeenCarriedOut } = exchanged;
      // A consent that is over already ends with this failure, not with CONSENT_EXPIRED.
      const outlives = claim.consent.untilMs > this.#ledger.nowMs();
      if (judged.kind === 'failed' && !mayHaveBeenCarriedOut && outlives) {
        regranting = this.#regrant(spent, claim.consent);
        // Before the line of its end: if this process dies in between, another one spends the token.
        await this.#inOneCommand(regranting);
      }
      if (judged.kind === 'answered') {
        // Kept before waiters get the answer, so that a request with further questions finds the token.
        if (reusable !== undefined) {
          operator.consentTokens?.keep(subject, request, reusable, consentId);
        }
        // Only the fact that the owner consented to, whatever else the reply has.
        const own = judged.facts.filter(({ operation }) => operation === lookup.operation);
        [fact] = timed(own, leftAtMs, false, operator.identity, clock);
        // Kept at once, so that the answer survives this process.
        if (fact !== undefined) keeping = this.#keep(fact, request, spent);
      }
    } finally {
      await admitted.ended(ending);
    }
    const { judged } = exchanged;
    if (regranting !== undefined && judged.kind === 'failed') {
      this.#failUnspent(judged.failure);
      await regranting;
      return;
    }
    if (fact === undefined || keeping === undefined) {
      const { failure, closed } = { failure: FACT_MISSING, closed: undefined, ...judged };
      const failed = asOfConsent(closed ?? { lookup, failure });
      const nowMs = this.#ledger.nowMs();
      const learned = lookupEnded(spent.consent, failed, nowMs, operator.rules);
      const made = { consentId, madeFor: request };
      return this.#failed(failed, spent, learned, nowMs, operator, made);
    }
    await this.#inOneCommand(keeping);
    await this.#waiters.answerWith(fact, lookup, consentId, request);
    // Requests may wait in other processes: they find the fact before they find the consent gone.
    await keeping;
    await this.#ledger.learn(spent, answered(spent.consent, this.#ledger.nowMs()));
    await operator.refusals.answered(fact.operation).catch(unlessLost);
  }

  #exchangeFor({ correlator, purpose }: LookupRequest, lookup: Lookup, operator: ConsentOperator) {
    const { operation } = lookup;
    const deadlineMs = this.#parts.clock.monotonicMs() + operator.exchangeMs;
    const subject = { number: this.#number, operation, purpose: purpose.word };
    return { subject, context: { correlator, deadlineMs } };
  }

  /** A lookup that was not carried out costs no consent: the next request, or another replica, spends the token. */
  #regrant(claim: Claim<Granted | Redeemed>, granted: Granted): Promise<unknown> {
    const { leaseUntilMs: _, ...lives } = granted;
    return this.#ledger.learn(claim, { kind: 'lives', lives });
  }

  #unspent(
    claim: Claim<Granted | Redeemed>,
    granted: Granted,
    failure: LookupFailure,
  ): Promise<void> {
    return this.#onceWritten(this.#regrant(claim, granted), () => this.#failUnspent(failure));
  }

  #failUnspent(failure: LookupFailure): void {
    this.#waiters.fail({ retryAfterSeconds: 1, ...failure, reach: 'number' });
  }

  /**
   * An outcome is written before its failure is returned. A request that has the failure may be repeated, or read the
   * consent's status, at once; and if the replica died in between, one that was returned but not written would ring the
   * phone again.
   */
  async #onceWritten(
    learning: Promise<unknown>,
    returnFailure: () => Promise<unknown> | void,
  ): Promise<void> {
    await this.#inOneCommand(learning);
    await returnFailure();
    await learning;
  }

  /** Waits for a write, but no longer than one command takes while the store is lost. */
  #inOneCommand(writing: Promise<unknown>): Promise<unknown> {
    const { clock } = this.#parts;
    return withinTime(
      clock,
      COMMAND_TIMEOUT_MS,
      writing.catch(() => undefined),
      undefined,
    );
  }

  /** Keeps the fact as soon as the store is available, while the lease lasts. */
  async #keep(fact: TimedFact, callerKey: CallerKey, spent: Claim<Redeemed>): Promise<void> {
    for (;;) {
      try {
        return await this.#parts.factCache.keep(callerKey, this.#number, fact);
      } catch (error) {
        await this.#ledger.again(error, spent.leaseUntilMs);
      }
    }
  }
}

/** @param done the outcome in the audit log of an exchange that did not fail */
function endingOf(
  exchanged:
    Pick<Outcome<AcknowledgementJudgement | Judgement<Fact>>, 'judged' | 'attempts'> | undefined,
  done: Ending['outcome'],
): Ending {
  if (exchanged === undefined) return BROKEN_ENDING;
  const { judged, attempts } = exchanged;
  return { outcome: judged.kind === 'failed' ? judged.failure.code : done, attempts };
}

/**
 * A reply that cannot be trusted closes the operation: a lookup for another window would ring the owner's phone again.
 */
function asOfConsent({ lookup, failure }: FailedLookup): FailedLookup {
  const isTrusted = failure.code !== 'OPERATOR_INVALID_REPLY';
  return { lookup, failure: isTrusted ? failure : { ...failure, reach: 'operation' } };
}
