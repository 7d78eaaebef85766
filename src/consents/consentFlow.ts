import type { FailedLookup, Fact, TimedFact } from '../domain/fact.ts';
import type { CallerKey } from '../domain/identity.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { Outcome } from '../http/resilience/guardedEndpoint.ts';
import type { FactCache } from '../lookups/factCache.ts';
import { BROKEN, type Ending } from '../lookups/lookupAuthorizer.ts';
import {
  lookupFailed,
  rejectionFailure,
  timed,
  type LookupRequest,
} from '../lookups/lookupRoute.ts';
import { nextWindowAmong } from '../lookups/planner.ts';
import type { Judgement } from '../operator/responses.ts';
import { COMMAND_TIMEOUT_MS, SharedStateLost, unlessLost } from '../sharedState/redis.ts';
import { withinTime } from '../system/clock.ts';
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
  countsAt,
  failureIn,
  lookupEnded,
  pollEnded,
  requestEnded,
  type Granted,
  type Learned,
  type Pending,
  type Redeemed,
  type Requested,
} from './consentRecord.ts';
import { failureToTell, pendingFailure } from './consentView.ts';
import { knownFrom, Waiters, type Waiter } from './consentWaiters.ts';

export interface ConsentFlowParts extends LedgerParts {
  readonly factCache: FactCache;
  /** By their identities: those that can be polled. */
  readonly operators: ReadonlyMap<string, ConsentOperator>;
  /** By caller key, the flows under way: each removes itself. */
  readonly flows: Map<string, ConsentFlow>;
}

/** Without a reason each abort would make an error, with its stack. */
const AWAKE = 'awake';

/** What a step has done: never nothing, so that a flow cannot spin. `told` is one waiter or pending step fewer. */
type Progress = 'told' | 'exchanged' | 'wrote' | 'slept';

/** The record has not been read yet. */
const PENDING = { code: 'CONSENT_PENDING', reach: 'number', retryAfterSeconds: 1 } as const;
const STORE_LOST = { code: 'STATE_UNAVAILABLE', reach: 'number', retryAfterSeconds: 1 } as const;
/** Live consents continue, and make room when they end. */
const STORE_FULL = { ...STORE_LOST, retryAfterSeconds: 60 };

const UNTOLD: LookupFailure = { code: 'OPERATOR_INVALID_REPLY', reach: 'operation' };

/**
 * Pursues consent about one number for the requests of one caller, as long as one of them waits: at the operator that the
 * record names, else at the operator of the request.
 *
 * The record in the store decides the next step, which answers a request, waits, writes, or makes an exchange. An exchange
 * (the prompt, a poll, the lookup) is claimed in the ledger, made, returned to the waiters, and recorded. It runs to its
 * own timeout, even if no request waits.
 */
export class ConsentFlow {
  readonly #looked = Promise.withResolvers<void>();
  /** Resolves when the record was read once and its answers were returned: no patience ends before. */
  readonly looked = this.#looked.promise;
  readonly #number: PhoneNumber;
  readonly #callerKey: string;
  readonly #parts: ConsentFlowParts;
  readonly #waiters: Waiters;
  readonly #ledger: ConsentLedger;
  #sleeping = new AbortController();
  #running: Promise<void> | undefined;

  /** @param callerKey as {@link hashedCallerKey} names it */
  constructor(number: PhoneNumber, callerKey: string, parts: ConsentFlowParts) {
    this.#number = number;
    this.#callerKey = callerKey;
    this.#parts = parts;
    this.#waiters = new Waiters(parts.factCache);
    this.#ledger = new ConsentLedger(number, callerKey, parts);
  }

  /** Resolves when no request waits and nothing is under way; never rejects. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  join(waiter: Waiter): void {
    this.#waiters.add(waiter);
    // The record may answer the new waiter.
    this.#sleeping.abort(AWAKE);
    this.#running ??= this.#run();
  }

  /** A waiter leaves, with what its caller may know of the consent. */
  leave(waiter: Waiter): void {
    this.#waiters.remove(waiter);
    if (this.#waiters.all.size === 0) this.#sleeping.abort(AWAKE);
    waiter.settle(lookupFailed(waiter.wanted, this.#ledger.failureNow(PENDING)));
  }

  async #run(): Promise<void> {
    try {
      for (;;) {
        const { departures } = this.#waiters;
        const cause = this.#waiters.takeCause();
        if (cause === undefined) return;
        const progress = await this.#step(cause);
        if (progress === 'told' && this.#waiters.departures === departures) {
          throw new Error('A step of a consent came to nothing.');
        }
      }
    } catch (error) {
      if (error instanceof SharedStateLost) this.#waiters.fail(this.#ledger.failureNow(STORE_LOST));
      else this.#waiters.reject(error);
    } finally {
      this.#looked.resolve();
      this.#running = undefined;
      this.#parts.flows.delete(this.#callerKey);
    }
  }

  async #step(cause: Waiter): Promise<Progress> {
    const { operator } = cause;
    const page = this.#ledger.pageAtHand() ?? (await this.#ledger.read(operator));
    if (page.lost !== undefined) {
      if (await this.#waiters.tellKept(cause)) return 'told';
      const written = await this.#ledger.restore(page, page.lost, operator);
      return typeof written === 'string' ? this.#lookAgain() : 'wrote';
    }

    const { departures } = this.#waiters;
    if (this.#waiters.mayFindKept(cause, page) && (await this.#waiters.tellKept(cause)))
      return 'told';
    const telling = this.#waiters.tellRecorded(page);
    if (telling !== undefined) {
      const expiredIds = (await telling).filter((id) => id !== undefined);
      if (expiredIds.length > 0) await this.#ledger.markTold(page, expiredIds);
    }
    if (this.#waiters.departures > departures) return 'told';
    // Another request may have joined while the one with the pending step has left.
    const [first] = this.#waiters.all;
    // The page has the refusals of the earlier waiter's operator.
    if (first !== undefined && first.operator !== operator) return 'slept';
    if (first !== undefined) return this.#follow(first, page);
    return knownFrom(page, cause) === undefined ? this.#follow(cause, page) : 'told';
  }

  async #follow(cause: Waiter, page: ConsentSnapshot): Promise<Progress> {
    const { clock, operators } = this.#parts;
    const { prompt } = page;
    this.#looked.resolve();
    switch (prompt.state) {
      case 'free':
        return !this.#waiters.hasRecalled(cause, page) && (await this.#waiters.tellKept(cause))
          ? 'told'
          : this.#request(cause, page);
      case 'due': {
        const operator = operators.get(prompt.pending.operator);
        if (operator === undefined) throw new Error('A consent of an unknown operator is due.');
        return this.#poll(cause, page, prompt.pending, operator);
      }
      case 'granted': {
        const { granted } = prompt;
        const operator = operators.get(granted.operator);
        if (operator === undefined) throw new Error('A consent of an unknown operator is granted.');
        return operator.tokens.holds(granted)
          ? this.#spend(cause, page, granted, operator)
          : this.#waiters.fail(pendingFailure(prompt, page.nowMs, clock.nowMs()));
      }
      // The page at that moment may be this one: by its clock the moment has come.
      case 'waiting':
        return this.#sleepUntil(prompt.againAtMs - page.time.minAheadMs);
      case 'under-way': {
        const againAtMs = Math.min(prompt.leaseUntilMs, page.nowMs + LOOK_AGAIN_MS);
        return this.#sleepUntil(againAtMs - page.time.minAheadMs);
      }
      case 'forgotten':
      case 'anothers':
      case 'in-doubt':
      case 'closed':
        return this.#waiters.fail(pendingFailure(prompt, page.nowMs, clock.nowMs()));
    }
  }

  /** Another process, or another caller, was first: its step takes some time. */
  #lookAgain(): Promise<Progress> {
    return this.#sleepUntil(this.#parts.clock.monotonicMs() + LOOK_AGAIN_MS);
  }

  /** Until then by our own clock, or until a request joins or the last one leaves. */
  async #sleepUntil(atMs: number): Promise<Progress> {
    if (this.#waiters.all.size === 0) return 'told';
    this.#sleeping = new AbortController();
    const { signal } = this.#sleeping;
    const { clock } = this.#parts;
    let leftMs = Math.max(1, atMs - clock.monotonicMs());
    this.#waiters.ownerWait(true);
    // A timer may be early by less than a millisecond.
    while (leftMs > 0 && !signal.aborted) {
      await clock.sleep(leftMs, signal).catch(() => undefined);
      leftMs = atMs - clock.monotonicMs();
    }
    this.#waiters.ownerWait(false);
    return 'slept';
  }

  async #request(cause: Waiter, page: ConsentSnapshot): Promise<Progress> {
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
        // Another process may have had a refusal or the answer since.
        current = await this.#ledger.read(operator);
        const isFree = current.lost === undefined && current.prompt.state === 'free';
        if (!isFree || knownFrom(current, cause) !== undefined) return 'slept';
        if (!this.#waiters.hasRecalled(cause, current) && (await this.#waiters.tellKept(cause)))
          return 'told';
      }
      const lookup = this.#lookupToRequest(cause, current);
      const claim = await this.#ledger.claimRequest(current, lookup, operator);
      switch (claim.kind) {
        case 'claimed':
          await this.#prompt(cause, claim);
          return 'exchanged';
        case 'conflict':
          return await this.#lookAgain();
        case 'late':
          return 'wrote';
        case 'full':
          return this.#waiters.fail(STORE_FULL);
        case 'lost':
          this.#waiters.fail(this.#ledger.failureNow(STORE_LOST));
          await claim.takeBack();
          return 'told';
      }
    } finally {
      requests.release(acquiredAtMs);
    }
  }

  async #prompt(cause: Waiter, claim: Claim<Requested>): Promise<void> {
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
        const subject = { number, operation: lookup.operation, purpose: request.purpose.word };
        const deadlineMs = this.#parts.clock.monotonicMs() + operator.exchangeMs;
        const context = { correlator: request.correlator, deadlineMs };
        exchanged = await operator.tokens.requestConsent(subject, context);
      } finally {
        // Without a reply it is only known that the request was sent.
        await admitted.ended(endingOf(exchanged, 'asked'));
      }
      ({ judged } = exchanged);
    }
    const nowMs = this.#ledger.nowMs();
    const learned = requestEnded(consent, judged, claim.nowMs, nowMs, operator.rules);
    await this.#conclude(claim, learned, judged, nowMs);
  }

  async #conclude(
    claim: Claim,
    learned: Learned,
    outcome: { readonly kind: string; readonly failure?: LookupFailure },
    nowMs: number,
  ): Promise<void> {
    if (outcome.failure !== undefined) {
      const { lookup, operator } = claim.consent;
      const failure = failureTold(learned, outcome.failure, nowMs);
      await this.#waiters.tellFailure({ lookup, failure }, operator);
    }
    await this.#ledger.learn(claim, learned);
  }

  async #poll(
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
      let sentAtMs = claim.nowMs;
      const { request } = cause.session;
      const { operation } = lookup;
      const subject = { number: this.#number, operation, purpose: request.purpose.word };
      const outcome = await operator.tokens.poll(authReqId, subject, {
        // Traced to a request, but not cancelled with it.
        correlator: request.correlator,
        deadlineMs: this.#parts.clock.monotonicMs() + operator.exchangeMs,
        // A connection may take long to make, and this process may be held up.
        onFirstByte: () => {
          sentAtMs = this.#ledger.nowMs();
        },
      });
      const nowMs = this.#ledger.nowMs();
      if (outcome.kind === 'issued') {
        const { issued } = outcome;
        const granted = await this.#ledger.grant(claim, issued, operator);
        if (granted !== undefined) await this.#redeem(cause, page, granted, issued, operator);
        return 'exchanged';
      }
      const isTold = this.#waiters.all.size > 0;
      const times = { sentAtMs, nowMs, isTold, doubtUntilMs: page.doubtUntilMs };
      const learned = pollEnded(pending, outcome, times, operator.rules);
      const isInDoubt = learned.kind === 'lives' && learned.lives.state === 'requested';
      await this.#conclude(claim, learned, isInDoubt ? learned : outcome, nowMs);
      return 'exchanged';
    } finally {
      polls.release(acquiredAtMs);
    }
  }

  /** A token whose lookup did not leave before, here or in another replica. */
  async #spend(
    cause: Waiter,
    page: ConsentSnapshot,
    granted: Granted,
    operator: ConsentOperator,
  ): Promise<Progress> {
    const { clock } = this.#parts;
    const { polls } = operator.bulkheads;
    const permit = await polls.acquire(this.#waiters);
    if (permit !== 'acquired') return this.#waiters.fail(rejectionFailure(permit));
    const acquiredAtMs = clock.monotonicMs();
    try {
      // While it waited for the permit.
      if (granted.untilMs <= this.#ledger.nowMs()) return 'slept';
      const claim = await this.#ledger.claimGranted(page, granted, operator);
      if (claim.kind === 'conflict') return await this.#lookAgain();
      const leftAtMs = clock.monotonicMs();
      const expiresAtMs = leftAtMs + granted.untilMs - this.#ledger.nowMs();
      const issued = { value: granted.token, leftAtMs, expiresAtMs };
      await this.#redeem(cause, page, claim, issued, operator);
      return 'exchanged';
    } finally {
      polls.release(acquiredAtMs);
    }
  }

  /**
   * The token is spent on the lookup that now helps most, even if no request waits any more. It stays granted where that
   * lookup does not leave.
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
    const lookup = this.#lookupToSpendOn(claim.consent.lookup, page, operator);
    const event = { event: 'lookup', lookup, number, request, consentId } as const;
    const admitted = await operator.admission.admit(event);
    if (admitted.kind === 'denied') return this.#unspent(claim, claim.consent, admitted.failure);

    const subject = { number, operation: lookup.operation, purpose: request.purpose.word };
    let ending: Ending = { outcome: 'STATE_UNAVAILABLE', attempts: 0 };
    let spent: Spent | undefined;
    let judged: Judgement<Fact>;
    let fact: TimedFact | undefined;
    let keeping: Promise<void> | undefined;
    try {
      spent = await this.#ledger.spend(claim, operator);
      if (spent === undefined) return;
      if (spent.isLate) return await this.#unspent(spent, claim.consent, STORE_LOST);
      const { token, reusable } = operator.tokens.rightTo(subject, issued);
      const leftAtMs = clock.monotonicMs();
      const context = {
        correlator: request.correlator,
        deadlineMs: leftAtMs + operator.exchangeMs,
      };
      ending = BROKEN;
      const exchanged = await operator.operator.lookUp({ lookup, number, token }, context);
      ending = endingOf(exchanged, 'answered');
      ({ judged } = exchanged);
      if (judged.kind === 'answered') {
        // Before waiters have the answer: a request with further questions finds the token.
        if (reusable !== undefined) {
          operator.consentTokens?.keep(subject, request, reusable, consentId);
        }
        // Only the fact that the owner consented to, whatever else the reply has.
        const own = judged.facts.filter(({ operation }) => operation === lookup.operation);
        [fact] = timed(own, leftAtMs, false, operator.identity, clock);
        // At once: the answer must outlive this process.
        if (fact !== undefined) keeping = this.#keep(fact, request, spent);
      }
    } finally {
      await admitted.ended(ending);
    }
    if (judged.kind === 'failed' && ending.attempts === 0) {
      return this.#unspent(spent, claim.consent, judged.failure);
    }
    if (fact === undefined || keeping === undefined) {
      const { failure, closed } = { failure: UNTOLD, closed: undefined, ...judged };
      return this.#lookupFailed(closed ?? { lookup, failure }, request, spent, operator);
    }
    await this.#inOneCommand(keeping);
    await this.#waiters.tellFact(fact, consentId, request);
    // Requests may wait in other processes: they find the fact before they find the consent gone.
    await keeping;
    await this.#ledger.learn(spent, answered(spent.consent, this.#ledger.nowMs()));
    await operator.refusals.answered(fact.operation).catch(unlessLost);
  }

  /** What we refused ourselves costs no consent: the next request, or another replica, spends the token. */
  async #unspent(
    claim: Claim<Granted | Redeemed>,
    granted: Granted,
    failure: LookupFailure,
  ): Promise<void> {
    const { leaseUntilMs: _, ...lives } = granted;
    const learning = this.#ledger.learn(claim, { kind: 'lives', lives });
    // Before a request that has the failure comes again.
    await this.#inOneCommand(learning);
    this.#waiters.fail({ retryAfterSeconds: 1, ...failure, reach: 'number' });
    await learning;
  }

  /** Waits for what is written, but for a store that is lost no longer than one command takes. */
  #inOneCommand(writing: Promise<unknown>): Promise<void> {
    const written = writing.then(
      () => undefined,
      () => undefined,
    );
    return withinTime(this.#parts.clock, COMMAND_TIMEOUT_MS, written, undefined);
  }

  /** Keeps it as soon as the store is available, while the lease lasts. */
  async #keep(fact: TimedFact, callerKey: CallerKey, spent: Claim<Redeemed>): Promise<void> {
    for (;;) {
      try {
        return await this.#parts.factCache.keep(callerKey, this.#number, fact);
      } catch (error) {
        await this.#ledger.again(error, spent.leaseUntilMs);
      }
    }
  }

  /** @param madeFor the request in whose name the lookup is audited */
  async #lookupFailed(
    { lookup, failure }: FailedLookup,
    madeFor: LookupRequest,
    spent: Claim<Redeemed>,
    { refusals, rules }: ConsentOperator,
  ): Promise<void> {
    const { consent } = spent;
    const nowMs = this.#ledger.nowMs();
    const failed = { lookup, failure: asOfConsent(failure) };
    const learned = lookupEnded(consent, failed, nowMs, rules);
    const told = { lookup, failure: failureTold(learned, failed.failure, nowMs) };
    // Written before it is returned: if the replica dies in between, the next request gets the failure. One that
    // was returned and not written would ring the phone again.
    const learning = this.#ledger.learn(spent, learned);
    await this.#inOneCommand(learning);
    await this.#waiters.tellFailure(told, consent.operator, { consentId: consent.id, madeFor });
    const { barsAfterNumbers } = told.failure;
    if (barsAfterNumbers !== undefined) {
      await refusals
        .refuse(this.#number, lookup.operation, barsAfterNumbers, rules.failureMs)
        .catch(unlessLost);
    }
    await learning;
  }

  /** The date first if a request wants it: it may answer every window. */
  #lookupToRequest({ operator, wanted }: Waiter, page: ConsentSnapshot): Lookup {
    // A request that joined since the page was read may want something for which the owner must not be prompted.
    let first: Lookup | undefined;
    for (const one of this.#waiters.all) {
      if (one.operator !== operator || knownFrom(page, one) !== undefined) continue;
      if (one.wanted.operation === 'retrieve-date') return one.wanted;
      first ??= one.wanted;
    }
    return this.#lookupToSpendOn(first ?? wanted, page, operator);
  }

  /** bc-authorize fixed the operation by its scope; the window is one of the open ones that no failure has closed. */
  #lookupToSpendOn(
    original: Lookup,
    { ends }: ConsentSnapshot,
    { identity, offer }: ConsentOperator,
  ): Lookup {
    switch (original.operation) {
      case 'retrieve-date':
        return original;
      case 'check': {
        const failed = ends.flatMap((end) =>
          end.kind === 'failed' && countsAt(end, identity) ? end : [],
        );
        const plans = [...this.#waiters.all].map(({ session }) => ({
          ...session,
          failures: [...session.failures, ...failed],
        }));
        const maxAgeHours = nextWindowAmong(plans, offer);
        return maxAgeHours === undefined ? original : { operation: 'check', maxAgeHours };
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
  if (exchanged === undefined) return BROKEN;
  const { judged, attempts } = exchanged;
  return { outcome: judged.kind === 'failed' ? judged.failure.code : done, attempts };
}

/** With the time for which it is remembered, if it is. */
function failureTold(learned: Learned, failure: LookupFailure, nowMs: number): LookupFailure {
  const remembered = failureIn(learned);
  return remembered === undefined ? failure : failureToTell(remembered, nowMs);
}

/** A reply that cannot be trusted closes the operation: the next window would ring the owner's phone for one of its kind. */
function asOfConsent(failure: LookupFailure): LookupFailure {
  return failure.code === 'OPERATOR_INVALID_REPLY' ? { ...failure, reach: 'operation' } : failure;
}
