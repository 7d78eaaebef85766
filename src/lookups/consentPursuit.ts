import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Asker } from '../domain/asker.ts';
import { unknownFacts, type Fact } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../errors.ts';
import type { Bulkhead } from '../http/resilience/bulkhead.ts';
import type { Outcome } from '../http/resilience/guardedEndpoint.ts';
import type { Operator } from '../operator/operator.ts';
import type { Judgement } from '../operator/responses.ts';
import type { AccessToken, TokenSubject } from '../tokens/accessToken.ts';
import {
  acknowledged,
  ended,
  endedByLookup,
  endsAtMs,
  inDoubt,
  isAlive,
  nextStep,
  overrules,
  pendingFailure,
  polled,
  polling,
  redeemed,
  requested,
  restored,
  type ConsentRecord,
  type ConsentRules,
  type NextStep,
} from '../tokens/consents/consentRecord.ts';
import {
  ConsentStoreLost,
  type ConsentStore,
  type Snapshot,
} from '../tokens/consents/consentStore.ts';
import type {
  ExchangeContext,
  Polled,
  RequestedConsent,
  TokenManager,
} from '../tokens/tokenManager.ts';
import { ifAdmitted, type Admission } from './admission.ts';
import type { KeptFacts } from './keptFacts.ts';
import type { Inquiry, LookupOutcome, TimedFact } from './lookupRoute.ts';
import type { Offer } from './plan.ts';
import { nextWindowAmong } from './planner.ts';
import { failureOf } from './turnedAway.ts';

/** What pursuing consents takes. */
export interface PursuitParts {
  readonly tokens: Pick<TokenManager, 'requestConsent' | 'poll'>;
  readonly operator: Pick<Operator, 'lookUp'>;
  readonly store: ConsentStore;
  readonly keptFacts: KeptFacts;
  readonly admission: Admission;
  readonly offer: Offer;
  readonly rules: ConsentRules;
  /** Prompts and polls have rooms of their own, so that a thousand pending consents hold up nothing. */
  readonly rooms: { readonly requests: Bulkhead; readonly polls: Bulkhead };
  /** For an exchange and its one retry; shorter than the lease. */
  readonly exchangeMs: number;
  readonly clock: Clock;
}

/** One request's wait for what it wants to know. */
export interface Waiter {
  readonly inquiry: Inquiry;
  readonly wanted: Lookup;
  settle(outcome: LookupOutcome): void;
  reject(defect: unknown): void;
}

/**
 * A moment of the store's clock, told from the last snapshot by our own. It counts from sending for the
 * snapshot, so it is never behind the store: what we say lasts until a moment lasts no less.
 */
type StoreTime = () => number;

type GoOn = Extract<Polled, { goOn: unknown }>;

/** A reply that takes longer was held back by the operator, and not its request by the way there. */
const LONGEST_WAY_MS = 500;

/** How long to wait before what must not be lost is sent to a lost store again. */
const STORE_AGAIN_MS = 250;

/**
 * Pursues consent about one number for the requests of one caller, as long as one of them waits.
 *
 * The record in the store is the truth and {@link nextStep} reads it; here it is acted on. What is to
 * happen is written first, by compare-and-set, so that no two pursuits, in whichever processes, do
 * the same. Exchanges belong to the consent: they run to their own timeout, whoever still waits.
 */
export class ConsentPursuit {
  readonly #number: PhoneNumber;
  readonly #caller: string;
  readonly #asker: Asker;
  readonly #parts: PursuitParts;
  readonly #waiters = new Set<Waiter>();
  /** Who came last: it may have left, but what it came for is done once. */
  #latest: Waiter;
  #owesStep = false;
  #sleeping = new AbortController();
  #seen: { readonly record: ConsentRecord | undefined; readonly storeTime: StoreTime } | undefined;
  #running: Promise<void> | undefined;

  constructor(first: Waiter, parts: PursuitParts) {
    this.#number = first.inquiry.number;
    this.#caller = first.inquiry.request.caller;
    this.#asker = first.inquiry.request;
    this.#parts = parts;
    this.#latest = first;
  }

  /** Whether nobody waits and nothing is under way. */
  get isIdle(): boolean {
    return this.#running === undefined;
  }

  /** Adds a waiter, and returns what ends when nobody waits and nothing is under way. Never rejects. */
  join(waiter: Waiter): Promise<void> {
    this.#waiters.add(waiter);
    this.#latest = waiter;
    // A request whose patience is shorter than the exchanges still moves the consent on by one.
    this.#owesStep = true;
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Takes a waiter out that waits no more, and says what it may tell its caller. */
  leave(waiter: Waiter): LookupFailure {
    this.#waiters.delete(waiter);
    if (this.#waiters.size === 0) this.#sleeping.abort();
    const seen = this.#seen;
    return pendingFailure(seen?.record, seen?.storeTime() ?? 0, this.#parts.clock.nowMs());
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiters.size > 0 || this.#owesStep) await this.#move();
    } catch (defect) {
      if (defect instanceof ConsentStoreLost) {
        this.#fail(this.#failureWithoutStore());
        return;
      }
      for (const waiter of this.#waiters) waiter.reject(defect);
      this.#waiters.clear();
      this.#owesStep = false;
    } finally {
      this.#running = undefined;
    }
  }

  async #move(): Promise<void> {
    const { snapshot, storeTime } = await this.#read();
    const lost = this.#recordLostFrom(snapshot);
    if (lost?.state === 'pending') return this.#restore(lost, snapshot, storeTime);
    this.#seen = { record: snapshot.record, storeTime };
    const { record, nowMs, doubtUntilMs } = snapshot;
    const next = nextStep(record, this.#caller, nowMs, doubtUntilMs);
    switch (next.step) {
      case 'request':
        return this.#inRoom('requests', () => this.#request(snapshot, storeTime));
      case 'poll':
        return this.#inRoom('polls', () => this.#poll(next, snapshot, storeTime));
      case 'wait':
        return this.#wait(next.untilMs - storeTime());
      case 'turn-away':
        if (record === undefined && (await this.#tellKeptFacts())) return undefined;
        this.#fail(pendingFailure(record, nowMs, this.#parts.clock.nowMs(), doubtUntilMs));
        return undefined;
      case 'fail':
        if (next.forget && (await this.#tellKeptFacts())) return undefined;
        // Who is told once must be there to hear it.
        if (next.forget && this.#waiters.size > 0) {
          await this.#parts.store.remove(this.#number, snapshot.version);
        }
        this.#fail(next.failure);
        return undefined;
    }
  }

  /** Takes the step when there is room for it, unless nobody waits for it any more. */
  async #inRoom(room: 'requests' | 'polls', step: () => Promise<void>): Promise<void> {
    const { deadlineMs } = this.#latest.inquiry.request;
    await this.#parts.rooms[room].run(
      { deadlineMs },
      async () => {
        if (this.#waiters.size > 0 || this.#owesStep) await step();
      },
      (turnedAway) => this.#fail(failureOf(turnedAway)),
    );
  }

  async #request(snapshot: Snapshot, storeTime: StoreTime): Promise<void> {
    if (await this.#tellKeptFacts()) return;
    const { tokens, rules } = this.#parts;
    const lookup = this.#wantedLookup();
    const identity = { id: randomUUID(), caller: this.#caller, lookup };

    const sentAtMs = storeTime();
    const intent = requested(identity, sentAtMs, rules);
    const leaseUntilMs = sentAtMs + rules.leaseMs;
    const version = await this.#writeIntent(snapshot.version, intent, storeTime, leaseUntilMs);
    if (version === undefined) return;

    const { judged } = await ifAdmitted<RequestedConsent>(this.#parts.admission, {
      asked: { event: 'consent-request', ...this.#asked(lookup, identity.id) },
      run: () => tokens.requestConsent(this.#subject(lookup), this.#context()),
      endingOf: ({ judged: told, attempts }) => ({
        outcome: 'failure' in told ? told.failure.code : 'asked',
        attempts,
      }),
      onDenied: (failure) => ({ judged: { failure, mayHavePrompted: false }, attempts: 0 }),
    });
    this.#owesStep = false;
    const nowMs = storeTime();
    const keep = (record: ConsentRecord): Promise<number | undefined> =>
      this.#writeLearned(version, record, storeTime, leaseUntilMs);
    if ('acknowledged' in judged) {
      await keep(acknowledged(identity, judged.acknowledged, sentAtMs, nowMs, rules));
      return;
    }
    if ('replyLost' in judged) {
      await keep(inDoubt(intent, nowMs));
      return;
    }
    const { failure, mayHavePrompted } = judged;
    if (failure.code === 'CONSENT_DENIED') {
      await keep(ended(intent, failure, nowMs, rules));
      return;
    }
    if (mayHavePrompted) {
      await keep(inDoubt(intent, nowMs));
    } else {
      await this.#remove(version, storeTime, leaseUntilMs);
    }
    this.#fail(failure);
  }

  /**
   * Writes what is about to be done, while it may be done: `undefined` when it may not. One that may lie
   * in a lost store is taken back, for nobody was prompted.
   */
  async #writeIntent(
    version: number,
    intent: ConsentRecord,
    storeTime: StoreTime,
    leaseUntilMs: number,
  ): Promise<number | undefined> {
    let written: number | undefined;
    try {
      written = await this.#write(version, intent, storeTime);
    } catch (lost) {
      if (!(lost instanceof ConsentStoreLost)) throw lost;
      this.#fail(this.#failureWithoutStore());
      await this.#untilDone(storeTime, leaseUntilMs, async () => {
        const found = await this.#parts.store.read(this.#number);
        if (found.record?.id !== intent.id) return;
        await this.#parts.store.remove(this.#number, found.version);
      });
      return undefined;
    }
    if (written === undefined || this.#isInTime(storeTime, leaseUntilMs)) return written;
    await this.#remove(written, storeTime, leaseUntilMs);
    return undefined;
  }

  /** Whether an exchange that leaves now is over before its lease is: a process may have been held up. */
  #isInTime(storeTime: StoreTime, leaseUntilMs: number): boolean {
    return storeTime() + this.#parts.exchangeMs < leaseUntilMs;
  }

  async #poll(
    { pending }: Extract<NextStep, { step: 'poll' }>,
    snapshot: Snapshot,
    storeTime: StoreTime,
  ): Promise<void> {
    const { tokens, rules } = this.#parts;
    const claimedAtMs = storeTime();
    const leaseUntilMs = claimedAtMs + rules.leaseMs;
    const claim = polling(pending, claimedAtMs, rules);
    const version = await this.#write(snapshot.version, claim, storeTime);
    if (version === undefined || !this.#isInTime(storeTime, leaseUntilMs)) return;

    const sentAtMs = storeTime();
    const subject = this.#subject(pending.lookup);
    const outcome = await tokens.poll(pending.authReqId, subject, this.#context());
    this.#owesStep = false;
    if ('token' in outcome) {
      await this.#redeem(pending, outcome.token, version, storeTime);
      return;
    }
    const nowMs = storeTime();
    const learned =
      'goOn' in outcome
        ? polled(pending, outcome, arrivedBy(outcome, sentAtMs, nowMs), nowMs)
        : ended(pending, outcome.failure, nowMs, rules);
    await this.#writeLearned(version, learned, storeTime, leaseUntilMs);
  }

  /**
   * The token goes out at once with the lookup that now helps most, whoever still waits. It does so even
   * when that cannot be noted: the operator takes the token once, and for nothing else.
   */
  async #redeem(
    record: ConsentRecord,
    token: AccessToken,
    version: number,
    storeTime: StoreTime,
  ): Promise<void> {
    const { operator, store, keptFacts, clock, rules } = this.#parts;
    const leaseUntilMs = storeTime() + rules.leaseMs;
    const spending = redeemed(record, storeTime(), rules);
    const spent = await this.#writeLearned(version, spending, storeTime, 0).catch(unlessLost);

    const lookup = this.#lookupToSpendOn(record.lookup);
    const order = { lookup, number: this.#number, token };
    let leftAtMs = 0;
    const { judged } = await ifAdmitted<Outcome<Judgement<Fact>>>(this.#parts.admission, {
      asked: { event: 'lookup', ...this.#asked(lookup, record.id) },
      run: () => {
        leftAtMs = clock.monotonicMs();
        return operator.lookUp(order, this.#context());
      },
      endingOf: ({ judged: told, attempts }) => ({
        outcome: 'failure' in told ? told.failure.code : 'answered',
        attempts,
      }),
      onDenied: (failure) => ({ judged: { failure }, attempts: 0, mayRetryWithNewToken: false }),
    });
    if ('failure' in judged) {
      this.#tell({ failed: { lookup, failure: judged.failure } });
      const end = endedByLookup(record, judged.failure, storeTime());
      if (store.isShared) {
        await this.#writeLearned(spent ?? version, end, storeTime, leaseUntilMs);
      } else if (spent !== undefined) {
        await this.#remove(spent, storeTime, leaseUntilMs);
      }
      return;
    }
    const fact = { ...judged.fact, leftAtMs };
    const isHeard = this.#waiters.size > 0;
    this.#tell({ facts: [fact] });
    // Others may wait in other processes: they find the fact before they find the record gone.
    await this.#untilDone(storeTime, leaseUntilMs, () =>
      keptFacts.keep(this.#asker, this.#number, fact, isHeard),
    );
    if (spent !== undefined) await this.#remove(spent, storeTime, leaseUntilMs);
  }

  /** bc-authorize fixed the operation by its scope; the window is free until now. */
  #lookupToSpendOn(original: Lookup): Lookup {
    if (original.operation === 'retrieve-date') return original;
    const maxAgeHours = nextWindowAmong(this.#inquiries(), this.#parts.offer);
    return maxAgeHours === undefined ? original : { operation: 'check', maxAgeHours };
  }

  /** The date first if anyone wants it, since it may answer every window; else what helps most. */
  #wantedLookup(): Lookup {
    const wanted = [...this.#waiters].map((waiter) => waiter.wanted);
    const date = wanted.find(({ operation }) => operation === 'retrieve-date');
    return this.#lookupToSpendOn(date ?? this.#latest.wanted);
  }

  /** An earlier consent may have told what somebody here has not heard: then nobody is prompted. */
  async #tellKeptFacts(): Promise<boolean> {
    const { keptFacts } = this.#parts;
    const unheardBy = async (waiter: Waiter) => {
      const { cameInAtMs } = waiter.inquiry.request;
      const kept = await keptFacts.recall(this.#asker, this.#number, cameInAtMs);
      return { waiter, facts: factsUnknownTo(waiter.inquiry, kept) };
    };
    const waiters = new Set([this.#latest, ...this.#waiters]);
    const told = await Promise.all(Array.from(waiters, unheardBy));
    if (!told.some(({ facts }) => facts.length > 0)) return false;
    for (const { waiter, facts } of told) {
      if (facts.length > 0 && this.#waiters.has(waiter)) this.#settle(waiter, { facts });
    }
    this.#owesStep = false;
    return true;
  }

  /** Writes the record, for as long as it has something to say; `undefined` when somebody was first. */
  async #write(
    version: number,
    record: ConsentRecord,
    storeTime: StoreTime,
  ): Promise<number | undefined> {
    const { store, rules } = this.#parts;
    // One that ran out unheard is kept a little longer, for its caller to be told.
    const keepMs = endsAtMs(record) - storeTime() + (record.state === 'ended' ? 0 : rules.resultMs);
    const written = await store.write(this.#number, version, record, keepMs);
    if (written === 'full') {
      this.#fail({ code: 'OPERATOR_UNAVAILABLE', reach: 'number' });
      return undefined;
    }
    if (written === 'conflict') return undefined;
    this.#seen = { record, storeTime };
    return written.version;
  }

  /**
   * Writes what was learned of an exchange: again and again while the store is lost, as long as our lease
   * lasts, and over a record that it overrules. `undefined` when it counts no more.
   */
  async #writeLearned(
    version: number,
    learned: ConsentRecord,
    storeTime: StoreTime,
    leaseUntilMs: number,
  ): Promise<number | undefined> {
    const { store } = this.#parts;
    return this.#untilDone(storeTime, leaseUntilMs, async () => {
      const written = await this.#write(version, learned, storeTime);
      if (written !== undefined || !store.isShared) return written;
      const found = await store.read(this.#number);
      if (!overrules(learned, found.record)) return undefined;
      return this.#write(found.version, learned, storeTime);
    });
  }

  async #remove(version: number, storeTime: StoreTime, leaseUntilMs: number): Promise<void> {
    const { store } = this.#parts;
    this.#seen = { record: undefined, storeTime };
    await this.#untilDone(storeTime, leaseUntilMs, () => store.remove(this.#number, version));
  }

  /** Does what may be done twice, until the store is there for it or our lease is over. */
  async #untilDone<T>(storeTime: StoreTime, untilMs: number, act: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await act();
      } catch (lost) {
        if (!(lost instanceof ConsentStoreLost) || storeTime() >= untilMs) throw lost;
        await this.#parts.clock.sleep(STORE_AGAIN_MS);
      }
    }
  }

  /** What we know to live, where a shared store knows of nothing. */
  #recordLostFrom({ record }: Snapshot): ConsentRecord | undefined {
    const seen = this.#seen;
    if (record !== undefined || !this.#parts.store.isShared) return undefined;
    if (seen?.record?.state !== 'pending' || !isAlive(seen.record, seen.storeTime())) {
      return undefined;
    }
    return seen.record.caller === this.#caller ? seen.record : undefined;
  }

  /**
   * A pending consent is gone: it came to facts, which are kept then; or to an end that others were told;
   * or the store lost it. Written anew, it does no harm in either case: the next poll tells.
   */
  async #restore(
    lost: Extract<ConsentRecord, { state: 'pending' }>,
    { version, doubtUntilMs }: Snapshot,
    storeTime: StoreTime,
  ): Promise<void> {
    this.#seen = undefined;
    if (await this.#tellKeptFacts()) return;
    const record =
      doubtUntilMs === undefined ? lost : restored(lost, storeTime(), this.#parts.rules);
    await this.#write(version, record, storeTime);
  }

  #failureWithoutStore(): LookupFailure {
    const seen = this.#seen;
    if (seen?.record === undefined || !isAlive(seen.record, seen.storeTime())) {
      return { code: 'OPERATOR_UNAVAILABLE', reach: 'number', retryAfterSeconds: 1 };
    }
    return pendingFailure(seen.record, seen.storeTime(), this.#parts.clock.nowMs());
  }

  async #wait(ms: number): Promise<void> {
    this.#owesStep = false;
    if (this.#waiters.size === 0) return;
    this.#sleeping = new AbortController();
    await this.#parts.clock.sleep(Math.max(0, ms), this.#sleeping.signal).catch(() => undefined);
  }

  #fail(failure: LookupFailure): void {
    for (const waiter of this.#waiters) {
      this.#settle(waiter, { failed: { lookup: waiter.wanted, failure } });
    }
    this.#owesStep = false;
  }

  #tell(outcome: LookupOutcome): void {
    for (const waiter of this.#waiters) this.#settle(waiter, outcome);
  }

  #settle(waiter: Waiter, outcome: LookupOutcome): void {
    this.#waiters.delete(waiter);
    waiter.settle(outcome);
  }

  #inquiries(): Inquiry[] {
    return [...this.#waiters].map(({ inquiry }) => inquiry);
  }

  /** Traced to the request that came last, but not ended with it. */
  #context(): ExchangeContext {
    const { clock, exchangeMs } = this.#parts;
    const { correlator } = this.#latest.inquiry.request;
    return { correlator, deadlineMs: clock.monotonicMs() + exchangeMs };
  }

  /** On record for the request that came last: whoever else waits is the same caller. */
  #asked(lookup: Lookup, consentId: string) {
    const { request } = this.#latest.inquiry;
    return { lookup, number: this.#number, request, consentId };
  }

  #subject({ operation }: Lookup): TokenSubject {
    return { number: this.#number, operation };
  }

  async #read(): Promise<{ readonly snapshot: Snapshot; readonly storeTime: StoreTime }> {
    const { clock, store } = this.#parts;
    const sentAtMs = clock.monotonicMs();
    const snapshot = await store.read(this.#number);
    return { snapshot, storeTime: () => snapshot.nowMs + (clock.monotonicMs() - sentAtMs) };
  }
}

/**
 * The operator counts the interval from when a poll arrives, which is some time between its sending and
 * its reply: the first one may have a connection to make, and the next one not. One without a reply may
 * arrive as late as it is given up.
 */
function arrivedBy({ goOn }: GoOn, sentAtMs: number, nowMs: number): number {
  return goOn === 'no_reply' ? nowMs : Math.min(nowMs, sentAtMs + LONGEST_WAY_MS);
}

function unlessLost(error: unknown): undefined {
  if (!(error instanceof ConsentStoreLost)) throw error;
  return undefined;
}

/** What the plan has not heard yet. */
export function factsUnknownTo(
  inquiry: Inquiry,
  facts: readonly TimedFact[],
): readonly TimedFact[] {
  return unknownFacts(facts, inquiry.facts);
}
