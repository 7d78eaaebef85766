import { randomUUID } from 'node:crypto';
import { clockElsewhere, type Clock, type ClockElsewhere } from '../system/clock.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import {
  asOf,
  concluded,
  failureIn,
  keptUntilMs,
  overruled,
  polling,
  redeemed,
  requested,
  withLearned,
  withTold,
  type Consent,
  type ConsentRecord,
  type ConsentRules,
  type Learned,
  type Pending,
  type Redeemed,
  type Requested,
} from './consentRecord.ts';
import { SharedStateLost, unlessLost } from '../sharedState/sharedStateLost.ts';
import type { ByOperation, ConsentOperator } from './consentOperator.ts';
import { newWriteId, type ConsentStore, type Snapshot } from './consentStore.ts';
import {
  consentViewOf,
  LOOK_AGAIN_MS,
  pendingFailure,
  type ConsentView,
  type Operators,
} from './consentView.ts';

export interface LedgerParts {
  readonly store: ConsentStore;
  readonly rules: Pick<ConsentRules, 'resultMs'>;
  readonly operators: Operators;
  readonly clock: Clock;
  /** Aborted when the process ends: nothing is kept up for a lost store then. */
  readonly closing: AbortSignal;
}

export type LedgerOperator = Pick<
  ConsentOperator,
  'identity' | 'refusals' | 'rules' | 'exchangeMs'
>;

/** The store's clock, by its reply to a read or a write. */
export interface StoreTime extends ClockElsewhere {
  /** Never behind the store: what we say lasts until a moment lasts no less. */
  now(): number;
}

/** What bears on a number at one moment of the store's clock. */
export interface ConsentSnapshot {
  readonly view: ConsentView;
  /** To be handed back with the next write. */
  readonly version: number;
  readonly nowMs: number;
  readonly time: StoreTime;
  /** For how long the operator that is to be asked refuses us each operation: no owner is prompted for it. */
  readonly refusedForMs: ByOperation;
  /** A pending consent of ours that a shared store knows nothing of. */
  readonly lost?: Pending | undefined;
  readonly isDoubtful: boolean;
}

/** What may be done now: it stands in the store, and no other process does the same before the lease is over. */
export interface Claim<C extends Consent = Consent> {
  readonly kind: 'claimed';
  readonly consent: C;
  readonly record: ConsentRecord;
  readonly version: number;
  readonly time: StoreTime;
  readonly leaseUntilMs: number;
}

/** The version that a write left, and the store's time by its reply. */
type Left = Pick<Claim, 'version' | 'time'>;

export type Unclaimed =
  /** Another process, or another caller, was first. */
  | { readonly kind: 'conflict' }
  /** The store has no room. */
  | { readonly kind: 'full' }
  /** We were held up: the exchange could outlast the lease. */
  | { readonly kind: 'late' }
  /** The store is lost, and may hold what was written. */
  | { readonly kind: 'lost'; readonly takeBack: () => Promise<void> };

/** How long to wait before what must not be lost is sent to a lost store again. */
const STORE_AGAIN_MS = 250;

const NOT_REFUSED: ByOperation = { 'retrieve-date': 0, check: 0 };

/**
 * What one caller knows and writes of asking the owner of one number, at whichever operator. What is to happen is written first,
 * by compare-and-set, with a lease; what was learned is written after it, again and again while the store
 * is lost and the lease lasts.
 *
 * Methods reject with {@link SharedStateLost} unless they say what becomes of a lost store.
 */
export class ConsentLedger {
  readonly #number: PhoneNumber;
  readonly #callerKey: string;
  readonly #parts: LedgerParts;
  /** What stood there when we last read or wrote. */
  #seen: { readonly snapshot: Snapshot; readonly time: StoreTime } | undefined;
  /** Whether a write of ours left what is seen. */
  #isOwn = false;

  constructor(number: PhoneNumber, callerKey: string, parts: LedgerParts) {
    this.#number = number;
    this.#callerKey = callerKey;
    this.#parts = parts;
  }

  /**
   * What the next step goes by: what a write of ours has just left, and what it left for the poll that falls due later, which
   * is claimed by compare-and-set and does not leave where another process wrote meanwhile. All else is read; so a prompt
   * follows a reading.
   *
   * @param operator whom the request is to ask that the next step is taken for
   */
  async page(operator: LedgerOperator): Promise<ConsentSnapshot> {
    if (!this.#isOwn || this.#seen === undefined) return this.read(operator);
    const { snapshot, time } = this.#seen;
    // What is over by it is over in the store.
    const nowMs = time.atLeast(this.#parts.clock.monotonicMs());
    const page = this.#pageOf({ ...snapshot, nowMs }, time, NOT_REFUSED);
    switch (page.view.prompt.state) {
      case 'free':
        return this.read(operator);
      case 'due':
        return page;
      default:
        return nowMs < snapshot.nowMs + LOOK_AGAIN_MS ? page : this.read(operator);
    }
  }

  /** @param operator as {@link page} has it */
  async read({ refusals }: LedgerOperator): Promise<ConsentSnapshot> {
    const { clock, store } = this.#parts;
    const sentAtMs = clock.monotonicMs();
    const [snapshot, refusedForMs] = await Promise.all([
      store.read(this.#number),
      refusals.leftMs(),
    ]);
    const time = this.#timeOf(snapshot.nowMs, sentAtMs);
    const lost = snapshot.record === undefined ? this.#livingHere() : undefined;
    if (lost === undefined) this.#seen = { snapshot, time };
    this.#isOwn = false;
    return { ...this.#pageOf(snapshot, time, refusedForMs), lost };
  }

  /** What a request hears that waits no more. */
  failureNow(): LookupFailure {
    return this.#pendingNow() ?? pendingFailure({ state: 'free' }, 0, 0);
  }

  failureWithoutStore(): LookupFailure {
    return (
      this.#pendingNow() ?? { code: 'STATE_UNAVAILABLE', reach: 'number', retryAfterSeconds: 1 }
    );
  }

  /** That the owner is about to be prompted. */
  async claimRequest(
    { view, version, time }: ConsentSnapshot,
    lookup: Lookup,
    operator: LedgerOperator,
  ): Promise<Claim<Requested> | Unclaimed> {
    const names = { id: randomUUID(), asker: this.#callerKey, operator: operator.identity };
    const consent = requested({ ...names, lookup }, time.now(), operator.rules);
    const record = { consent, ends: view.record.ends };
    const { leaseUntilMs } = consent;
    let written: Left | 'conflict' | 'full';
    try {
      written = await this.#write(version, record, time);
    } catch (error) {
      unlessLost(error);
      return { kind: 'lost', takeBack: () => this.#takeBack(consent, time) };
    }
    if (typeof written === 'string') return { kind: written };
    const claim = { kind: 'claimed', consent, record, ...written, leaseUntilMs } as const;
    if (claim.time.now() + operator.exchangeMs < leaseUntilMs) return claim;
    await this.learn(claim, { kind: 'withdrawn', id: consent.id });
    return { kind: 'late' };
  }

  /** That the operator is about to be asked whether the owner has answered. */
  async claimPoll(
    { view, version, time }: ConsentSnapshot,
    pending: Pending,
    operator: LedgerOperator,
  ): Promise<Claim<Pending> | Extract<Unclaimed, { kind: 'conflict' | 'late' }>> {
    const { rules } = operator;
    const nowMs = time.now();
    const consent = polling(pending, nowMs, rules);
    const record = { consent, ends: view.record.ends };
    const written = await this.#write(version, record, time);
    // A record that is there already takes no further room; a store that is full is as good as lost.
    if (written === 'full') throw new SharedStateLost();
    if (written === 'conflict') return { kind: written };
    const leaseUntilMs = nowMs + rules.leaseMs;
    const claim = { kind: 'claimed', consent, record, ...written, leaseUntilMs } as const;
    // Our own lease says when the next poll may be made.
    return claim.time.now() + operator.exchangeMs < leaseUntilMs ? claim : { kind: 'late' };
  }

  /**
   * That the token goes out. It does so even when that cannot be written: the operator takes the token
   * once, and for nothing else. Never rejects for a lost store.
   */
  async spend(claim: Claim<Pending>, rules: ConsentRules): Promise<Claim<Redeemed>> {
    const nowMs = claim.time.now();
    const consent = redeemed(claim.consent, nowMs, rules);
    // Tried once: the lookup waits for it.
    const once = { ...claim, leaseUntilMs: 0 };
    const written = await this.learn(once, { kind: 'lives', lives: consent }).catch(unlessLost);
    return { ...claim, consent, leaseUntilMs: nowMs + rules.leaseMs, ...written };
  }

  /**
   * What an exchange taught, over whatever is found in the place of the claim. What bars prompts for longer than its lease is
   * written for as long as it does. `undefined` where it counts no more.
   */
  learn(claim: Claim, learned: Learned): Promise<(Left & Pick<Claim, 'record'>) | undefined> {
    const { store, rules } = this.#parts;
    const { time } = claim;
    let { version } = claim;
    let record = withLearned(claim.record, learned);
    let writeId = newWriteId();
    const write = async () => {
      for (;;) {
        const written = await this.#write(version, record, time, writeId);
        if (written === 'full') throw new SharedStateLost();
        if (written !== 'conflict') return { record, ...written };
        const found = await store.read(this.#number);
        const next = overruled(asOf(found.record, found.nowMs, rules), learned);
        if (next === undefined) return undefined;
        [version, record, writeId] = [found.version, next, newWriteId()];
      }
    };
    return this.untilDone(claim, write, failureIn(learned)?.untilMs);
  }

  /** That expiries were told. Told twice they do no harm: a lost store and a conflict are passed over. */
  async markTold({ view, version, time }: ConsentSnapshot, ids: readonly string[]): Promise<void> {
    await this.#write(version, withTold(view.record, ids), time).catch(unlessLost);
  }

  /**
   * Writes a consent anew that a shared store has lost, or that has come to an end of which nothing is
   * left. In either case it does no harm: the next poll tells.
   */
  async restore(
    { view, version, time, isDoubtful }: ConsentSnapshot,
    lost: Pending,
    { rules }: LedgerOperator,
  ): Promise<Left | 'conflict' | 'full'> {
    this.#seen = undefined;
    // A store that has lost all it knew may have known of another process's poll that is on the wire.
    const consent = isDoubtful ? { ...lost, leaseUntilMs: time.now() + rules.leaseMs } : lost;
    return this.#write(version, { consent, ends: view.record.ends }, time);
  }

  /**
   * Does what may be done twice, until the store is there for it or the lease is over.
   *
   * @param barredUntilMs goes on until then while the process does
   */
  async untilDone<T>(
    { time, leaseUntilMs }: Pick<Claim, 'time' | 'leaseUntilMs'>,
    act: () => Promise<T>,
    barredUntilMs = 0,
  ): Promise<T> {
    const { clock, closing } = this.#parts;
    for (;;) {
      try {
        return await act();
      } catch (error) {
        const untilMs = closing.aborted ? leaseUntilMs : Math.max(leaseUntilMs, barredUntilMs);
        if (!(error instanceof SharedStateLost) || time.now() >= untilMs) throw error;
        await clock.sleep(STORE_AGAIN_MS);
      }
    }
  }

  /** Writes the record for as long as it has something to say. */
  async #write(
    version: number,
    record: ConsentRecord,
    time: StoreTime,
    writeId = newWriteId(),
  ): Promise<Left | 'conflict' | 'full'> {
    const { store, rules, clock } = this.#parts;
    const nowMs = time.now();
    const keepMs = keptUntilMs(record, rules) - nowMs;
    this.#isOwn = false;
    if (keepMs <= 0) {
      await store.remove(this.#number, version);
      this.#seen = { snapshot: { record, nowMs, version: 0 }, time };
      return { version: 0, time };
    }
    const sentAtMs = clock.monotonicMs();
    const written = await store.write(this.#number, version, record, keepMs, writeId);
    if (typeof written === 'string') return written;
    this.#isOwn = true;
    this.#seen = {
      snapshot: { record, ...written },
      time: this.#timeOf(written.nowMs, sentAtMs),
    };
    return { version: written.version, time: this.#seen.time };
  }

  /** Told from a reply that is here just now. */
  #timeOf(nowMs: number, sentAtMs: number): StoreTime {
    const { clock } = this.#parts;
    const time = clockElsewhere(nowMs, sentAtMs, clock.monotonicMs());
    return { ...time, now: () => time.atMost(clock.monotonicMs()) };
  }

  #pageOf(snapshot: Snapshot, time: StoreTime, refusedForMs: ByOperation): ConsentSnapshot {
    const { rules, operators } = this.#parts;
    const { version, nowMs, doubtUntilMs } = snapshot;
    const view = consentViewOf(snapshot, this.#callerKey, rules, operators);
    return { view, version, nowMs, time, refusedForMs, isDoubtful: doubtUntilMs !== undefined };
  }

  /** By what was seen last; `undefined` where by that the owner may be prompted, or nothing was seen. */
  #pendingNow(): LookupFailure | undefined {
    if (this.#seen === undefined) return undefined;
    const { rules, operators, clock } = this.#parts;
    const nowMs = this.#seen.time.now();
    const snapshot = { ...this.#seen.snapshot, nowMs };
    const { prompt } = consentViewOf(snapshot, this.#callerKey, rules, operators);
    return prompt.state === 'free' ? undefined : pendingFailure(prompt, nowMs, clock.nowMs());
  }

  async #takeBack(intent: Requested, time: StoreTime): Promise<void> {
    const { store } = this.#parts;
    await this.untilDone({ time, leaseUntilMs: intent.leaseUntilMs }, async () => {
      const { record, version } = await store.read(this.#number);
      if (record?.consent?.id !== intent.id) return;
      await this.#write(version, concluded(record, intent.id), time);
    });
  }

  /** What we know to live, where a shared store may know of nothing. */
  #livingHere(): Pending | undefined {
    const consent = this.#seen?.snapshot.record?.consent;
    if (!this.#parts.store.isShared || this.#seen === undefined) return undefined;
    if (consent?.state !== 'pending' || consent.asker !== this.#callerKey) return undefined;
    return consent.livesUntilMs > this.#seen.time.now() ? consent : undefined;
  }
}
