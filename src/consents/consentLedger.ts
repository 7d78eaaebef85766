import { randomUUID } from 'node:crypto';
import type { Clock } from '../system/clock.ts';
import { clockElsewhere, type ClockElsewhere } from '../system/clockElsewhere.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import {
  asOf,
  concluded,
  keptUntilMs,
  overruled,
  polling,
  redeemed,
  requested,
  restored,
  withConsent,
  withTold,
  type Consent,
  type ConsentIdentity,
  type ConsentRecord,
  type ConsentRules,
  type Learned,
  type Pending,
  type Redeemed,
  type Requested,
} from './consentRecord.ts';
import { SharedStateLost, unlessLost } from '../sharedState/sharedStateLost.ts';
import type { ConsentOperator } from './consentOperator.ts';
import { newWriteId, type ConsentStore } from './consentStore.ts';
import {
  consentViewOf,
  LOOK_AGAIN_MS,
  pendingFailure,
  type Recorded,
  type ConsentView,
} from './consentView.ts';

export interface LedgerParts {
  readonly store: ConsentStore;
  readonly rules: Pick<ConsentRules, 'resultMs'>;
  /** By their identities: those that can be polled. */
  readonly operators: Pick<ReadonlyMap<string, unknown>, 'has'>;
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

export interface ConsentSnapshot {
  readonly view: ConsentView;
  readonly record: ConsentRecord;
  readonly version: number;
  readonly nowMs: number;
  readonly time: StoreTime;
  /** A pending consent of ours that a shared store knows nothing of. */
  readonly lost: (ConsentIdentity & Pending) | undefined;
  readonly isDoubtful: boolean;
}

/** What may be done now: it stands in the store, and no other process does the same before the lease is over. */
export interface Claim<C extends Consent = Consent> {
  readonly kind: 'claimed';
  readonly operator: LedgerOperator;
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
  #seen: { readonly recorded: Recorded; readonly time: StoreTime } | undefined;
  /** The version that is seen, where a write of ours left it. */
  #versionWritten: number | undefined;

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
    return this.#pageWritten() ?? this.read(operator);
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
    const refusedUntilMs = {
      'retrieve-date': snapshot.nowMs + refusedForMs['retrieve-date'],
      check: snapshot.nowMs + refusedForMs.check,
    };
    const recorded = { ...snapshot, refusedUntilMs };
    const lost = snapshot.record === undefined ? this.#livingHere() : undefined;
    if (lost === undefined) this.#seen = { recorded, time };
    this.#versionWritten = undefined;
    return { ...this.#pageOf(recorded, snapshot.version, time), lost };
  }

  /** What a request hears that waits no more. */
  failureNow(): LookupFailure {
    if (this.#seen === undefined) return pendingFailure({ state: 'free' }, 0, 0);
    const nowMs = this.#seen.time.now();
    const { prompt } = this.#viewSeen(nowMs);
    return pendingFailure(prompt, nowMs, this.#parts.clock.nowMs());
  }

  failureWithoutStore(): LookupFailure {
    const nowMs = this.#seen?.time.now() ?? 0;
    const prompt = this.#seen === undefined ? undefined : this.#viewSeen(nowMs).prompt;
    return prompt === undefined || prompt.state === 'free'
      ? { code: 'STATE_UNAVAILABLE', reach: 'number', retryAfterSeconds: 1 }
      : pendingFailure(prompt, nowMs, this.#parts.clock.nowMs());
  }

  /** That the owner is about to be prompted. */
  async claimRequest(
    page: ConsentSnapshot,
    lookup: Lookup,
    operator: LedgerOperator,
  ): Promise<Claim<ConsentIdentity & Requested> | Unclaimed> {
    const { rules } = operator;
    const { time } = page;
    const identity = {
      id: randomUUID(),
      asker: this.#callerKey,
      operator: operator.identity,
      lookup,
    };
    const consent = requested(identity, time.now(), rules);
    const record = withConsent(page.record, consent);
    const { leaseUntilMs } = consent;
    let written: Left | 'conflict' | 'full';
    try {
      written = await this.#write(page.version, record, time);
    } catch (error) {
      if (!(error instanceof SharedStateLost)) throw error;
      return { kind: 'lost', takeBack: () => this.#takeBack(consent, time) };
    }
    if (typeof written === 'string') return { kind: written };
    const claim = { kind: 'claimed', operator, consent, record, ...written, leaseUntilMs } as const;
    if (isInTime(claim)) return claim;
    await this.withdraw(claim);
    return { kind: 'late' };
  }

  /** That the operator is about to be asked whether the owner has answered. */
  async claimPoll(
    page: ConsentSnapshot,
    pending: ConsentIdentity & Pending,
    operator: LedgerOperator,
  ): Promise<Claim<ConsentIdentity & Pending> | Extract<Unclaimed, { kind: 'conflict' | 'late' }>> {
    const { rules } = operator;
    const { time } = page;
    const nowMs = time.now();
    const consent = polling(pending, nowMs, rules);
    const record = withConsent(page.record, consent);
    const written = await this.#write(page.version, record, time);
    // A record that is there already takes no further room; a store that is full is as good as lost.
    if (written === 'full') throw new SharedStateLost();
    if (written === 'conflict') return { kind: written };
    const leaseUntilMs = nowMs + rules.leaseMs;
    const claim = { kind: 'claimed', operator, consent, record, ...written, leaseUntilMs } as const;
    // Our own lease says when the next poll may be made.
    return isInTime(claim) ? claim : { kind: 'late' };
  }

  /**
   * That the token goes out. It does so even when that cannot be written: the operator takes the token
   * once, and for nothing else. Never rejects for a lost store.
   */
  async spend(claim: Claim<ConsentIdentity & Pending>): Promise<Claim<ConsentIdentity & Redeemed>> {
    const { rules } = claim.operator;
    const nowMs = claim.time.now();
    const consent = redeemed(claim.consent, nowMs, rules);
    const spent = { ...claim, consent, leaseUntilMs: nowMs + rules.leaseMs };
    const first = withConsent(claim.record, consent);
    const again = (found: ConsentRecord) => overruled(found, { kind: 'lives', lives: consent });
    // Tried once: the lookup waits for it.
    const once = { ...claim, leaseUntilMs: 0 };
    const written = await this.#change(once, first, again).catch(unlessLost);
    return { ...spent, ...written };
  }

  /** What an exchange taught. What bars prompts for longer than its lease is written for as long as it does. */
  async learn(claim: Claim, learned: Learned): Promise<void> {
    const first = afterLearning(claim, learned);
    const again = (found: ConsentRecord) => overruled(found, learned);
    await this.#change(claim, first, again, promptsBarredUntilMs(learned));
  }

  /** That nothing left: the owner was not prompted. */
  async withdraw(claim: Claim): Promise<void> {
    const { id } = claim.consent;
    const again = (found: ConsentRecord) =>
      found.consent?.id === id ? concluded(found, id) : undefined;
    await this.#change(claim, concluded(claim.record, id), again);
  }

  /** That expiries were told. Told twice they do no harm: a lost store and a conflict are passed over. */
  async markTold(page: ConsentSnapshot, ids: readonly string[]): Promise<void> {
    await this.#write(page.version, withTold(page.record, ids), page.time).catch(unlessLost);
  }

  /**
   * Writes a consent anew that a shared store has lost, or that has come to an end of which nothing is
   * left. In either case it does no harm: the next poll tells.
   */
  async restore(
    page: ConsentSnapshot,
    lost: ConsentIdentity & Pending,
    { rules }: LedgerOperator,
  ): Promise<Left | 'conflict' | 'full'> {
    const { time, isDoubtful } = page;
    this.#seen = undefined;
    const consent = isDoubtful ? restored(lost, time.now(), rules) : lost;
    return this.#write(page.version, withConsent(page.record, consent), time);
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

  /** Writes the first record, or what becomes of another one that is found in its place. */
  #change(
    { version, time, leaseUntilMs }: Claim,
    first: ConsentRecord,
    again: (found: ConsentRecord) => ConsentRecord | undefined,
    barredUntilMs = 0,
  ): Promise<(Left & Pick<Claim, 'record'>) | undefined> {
    const { store, rules } = this.#parts;
    let next = { version, record: first, writeId: newWriteId() };
    const write = async (): Promise<(Left & Pick<Claim, 'record'>) | undefined> => {
      for (;;) {
        const written = await this.#write(next.version, next.record, time, next.writeId);
        if (written === 'full') throw new SharedStateLost();
        if (written !== 'conflict') return { record: next.record, ...written };
        const found = await store.read(this.#number);
        const record = again(asOf(found.record, found.nowMs, rules));
        if (record === undefined) return undefined;
        next = { version: found.version, record, writeId: newWriteId() };
      }
    };
    return this.untilDone({ time, leaseUntilMs }, write, barredUntilMs);
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
    const refusedUntilMs = {};
    this.#versionWritten = undefined;
    if (keepMs <= 0) {
      await store.remove(this.#number, version);
      this.#seen = { recorded: { record, nowMs, refusedUntilMs }, time };
      return { version: 0, time };
    }
    const sentAtMs = clock.monotonicMs();
    const written = await store.write(this.#number, version, record, keepMs, writeId);
    if (typeof written === 'string') return written;
    const left = { version: written.version, time: this.#timeOf(written.nowMs, sentAtMs) };
    this.#seen = { recorded: { record, nowMs: written.nowMs, refusedUntilMs }, time: left.time };
    this.#versionWritten = written.version;
    return left;
  }

  /** Told from a reply that is here just now. */
  #timeOf(nowMs: number, sentAtMs: number): StoreTime {
    const { clock } = this.#parts;
    const time = clockElsewhere(nowMs, sentAtMs, clock.monotonicMs());
    return { ...time, now: () => time.atMost(clock.monotonicMs()) };
  }

  #pageWritten(): ConsentSnapshot | undefined {
    if (this.#versionWritten === undefined || this.#seen === undefined) return undefined;
    const { recorded, time } = this.#seen;
    // What is over by it is over in the store.
    const nowMs = time.atLeast(this.#parts.clock.monotonicMs());
    const page = this.#pageOf({ ...recorded, nowMs }, this.#versionWritten, time);
    switch (page.view.prompt.state) {
      case 'free':
        return undefined;
      case 'due':
        return page;
      default:
        return nowMs < recorded.nowMs + LOOK_AGAIN_MS ? page : undefined;
    }
  }

  #pageOf(recorded: Recorded, version: number, time: StoreTime): ConsentSnapshot {
    const { record, nowMs, doubtUntilMs } = recorded;
    return {
      view: this.#viewOf(recorded),
      record: asOf(record, nowMs, this.#parts.rules),
      version,
      nowMs,
      time,
      lost: undefined,
      isDoubtful: doubtUntilMs !== undefined,
    };
  }

  async #takeBack(intent: ConsentIdentity & Requested, time: StoreTime): Promise<void> {
    const { store } = this.#parts;
    await this.untilDone({ time, leaseUntilMs: intent.leaseUntilMs }, async () => {
      const { record, version } = await store.read(this.#number);
      if (record?.consent?.id !== intent.id) return;
      await this.#write(version, concluded(record, intent.id), time);
    });
  }

  /** What we know to live, where a shared store may know of nothing. */
  #livingHere(): (ConsentIdentity & Pending) | undefined {
    const consent = this.#seen?.recorded.record?.consent;
    if (!this.#parts.store.isShared || this.#seen === undefined) return undefined;
    if (consent?.state !== 'pending' || consent.asker !== this.#callerKey) return undefined;
    return consent.livesUntilMs > this.#seen.time.now() ? consent : undefined;
  }

  #viewSeen(nowMs: number): ConsentView {
    const recorded = this.#seen?.recorded ?? { record: undefined, refusedUntilMs: {} };
    return this.#viewOf({ ...recorded, nowMs });
  }

  #viewOf(recorded: Recorded): ConsentView {
    const { rules, operators } = this.#parts;
    return consentViewOf(recorded, this.#callerKey, rules, (operator) => operators.has(operator));
  }
}

/** Whether an exchange that leaves now is over before its lease is: a process may have been held up. */
function isInTime({ time, leaseUntilMs, operator }: Claim): boolean {
  return time.now() + operator.exchangeMs < leaseUntilMs;
}

/** Until when no owner is prompted for what was learned; 0 where that is over with its lease. */
function promptsBarredUntilMs(learned: Learned): number {
  switch (learned.kind) {
    case 'lives':
      return learned.lives.state === 'closed' ? learned.lives.untilMs : 0;
    case 'ended':
      return learned.ended.kind === 'failed' ? learned.ended.untilMs : 0;
  }
}

/** The record of a claim once this was learned of its consent. */
function afterLearning({ record, consent }: Claim, learned: Learned): ConsentRecord {
  switch (learned.kind) {
    case 'lives':
      return withConsent(record, learned.lives);
    case 'ended':
      return concluded(record, consent.id, learned.ended);
  }
}
