import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { clockElsewhere, type Clock, type ClockElsewhere } from '../system/clock.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import {
  asOf,
  identityOf,
  keptUntilMs,
  MAX_LIFE_MS,
  neededUntilMs,
  overruled,
  unansweredIn,
  withLearned,
  withDelivered,
  type AgeingRules,
  type Consent,
  type ConsentEnd,
  type ConsentRecord,
  type ConsentRules,
  type Granted,
  type Learned,
  type Pending,
  type Redeemed,
  type Requested,
} from './consentRecord.ts';
import { SharedStateLost, unlessLost } from '../sharedState/redis.ts';
import type { Bulkhead } from '../resilience/bulkhead.ts';
import type { LookupAuthorizer } from '../lookups/lookupAuthorizer.ts';
import type { Offer } from '../lookups/planner.ts';
import type { Operator } from '../operator/operator.ts';
import type { TokenManager } from '../tokens/tokenManager.ts';
import type { IssuedToken } from '../tokens/tokenResponses.ts';
import type { ConsentTokens } from './consentTokens.ts';
import {
  newWriteId,
  type ByOperation,
  type ConsentStore,
  type OperatorRefusals,
  type Snapshot,
  type Written,
} from './consentStore.ts';
import { consentViewOf, pendingFailure, type ConsentView, type Operators } from './consentView.ts';

export interface LedgerParts {
  readonly store: ConsentStore;
  readonly rules: AgeingRules;
  readonly operators: Operators;
  readonly clock: Clock;
  /** Aborted when the process ends: it does not wait for a lost store then. */
  readonly closing: AbortSignal;
  /** Called when a consent is read whose operator is not one of `operators`: nothing can be done for it until it ends. */
  readonly onStranded?: () => void;
}

export interface ConsentOperator {
  /** Its identity in consents and facts. */
  readonly identity: string;
  /** This identity, and others that consents under way may have. */
  readonly identities?: readonly string[];
  /** Its name in the settings. */
  readonly name: string;
  readonly tokens: Pick<TokenManager, 'requestConsent' | 'poll' | 'holds' | 'rightTo'>;
  readonly operator: Pick<Operator, 'lookUp'>;
  /** Where the operator allows further uses of the tokens of consents. */
  readonly consentTokens?: Pick<ConsentTokens, 'keep'> | undefined;
  readonly admission: LookupAuthorizer;
  readonly refusals: OperatorRefusals;
  readonly offer: Offer;
  readonly rules: ConsentRules;
  /** Prompts and polls have their own permits, so that a thousand pending consents delay no lookup. */
  readonly bulkheads: { readonly requests: Bulkhead; readonly polls: Bulkhead };
  /** The time for an exchange and its one retry; shorter than the lease. */
  readonly exchangeMs: number;
}

export type LedgerOperator = Pick<
  ConsentOperator,
  'identity' | 'refusals' | 'rules' | 'exchangeMs'
>;

/** The view at one moment of the store's clock. */
export interface ConsentSnapshot extends ConsentView {
  /** The version for the next write. */
  readonly version: number;
  readonly nowMs: number;
  /** The store's clock, by its latest reply. */
  readonly time: ClockElsewhere;
  /** How long the operator still refuses each operation: no owner is prompted for it meanwhile. */
  readonly refusedForMs: ByOperation;
  /** A pending consent of ours that a shared store has lost. */
  readonly lost?: Pending | undefined;
  readonly doubtUntilMs?: number | undefined;
}

/** A step that is written in the store: no other process takes it before its lease is over. */
export interface Claim<C extends Consent = Consent> {
  readonly kind: 'claimed';
  readonly consent: C;
  readonly ends: readonly ConsentEnd[];
  readonly version: number;
  /** The store's clock when the reply arrived: never behind it. */
  readonly nowMs: number;
  readonly leaseUntilMs: number;
}

export interface Spent extends Claim<Redeemed> {
  /** This process was suspended: the exchange could outlast the lease, or the token has ended. */
  readonly isLate: boolean;
}

export type Unclaimed =
  /** Another process, or another caller, was first. */
  | { readonly kind: 'conflict' }
  /** The store has no room. */
  | { readonly kind: 'full' }
  /** This process was suspended: the exchange could outlast the lease. */
  | { readonly kind: 'late' }
  /** The store was lost during the write, which may have been carried out. */
  | { readonly kind: 'lost'; readonly takeBack: () => Promise<unknown> };

export const LOOK_AGAIN_MS = 250;

/** The pause between tries to write to a lost store. */
const STORE_AGAIN_MS = 250;

const NOT_REFUSED: ByOperation = { 'retrieve-date': 0, check: 0 };

/**
 * The record of one number's consent, as one caller reads and writes it. A step is written before it is taken, by
 * compare-and-set, with a lease; its outcome is written after it, with retries while the store is lost and the lease
 * lasts.
 *
 * Methods reject with {@link SharedStateLost} unless they say otherwise.
 */
export class ConsentLedger {
  readonly #number: PhoneNumber;
  readonly #callerKey: string;
  readonly #parts: LedgerParts;
  /** The latest snapshot, from our last read or write. */
  #seen: Snapshot | undefined;
  /** Whether the latest snapshot is from a write of ours. */
  #isOwn = false;
  /** The store's clock, by its last reply. */
  #time: ClockElsewhere = { minAheadMs: 0, maxAheadMs: 0 };

  constructor(number: PhoneNumber, callerKey: string, parts: LedgerParts) {
    this.#number = number;
    this.#callerKey = callerKey;
    this.#parts = parts;
  }

  /** An estimate of the store's clock that is never behind it: what ends by it ends no earlier in the store. */
  nowMs(): number {
    return this.#parts.clock.monotonicMs() + this.#time.maxAheadMs;
  }

  /**
   * The page after our last write: while it is fresh, and later for a poll that is due, whose claim fails where another
   * process wrote meanwhile. In every other case the record is read, so that each prompt follows a reading.
   */
  pageAtHand(): ConsentSnapshot | undefined {
    if (!this.#isOwn || this.#seen === undefined) return undefined;
    // What has expired by this clock has expired in the store.
    const nowMs = this.#parts.clock.monotonicMs() + this.#time.minAheadMs;
    const isFresh = nowMs < this.#seen.nowMs + LOOK_AGAIN_MS;
    const page = this.#pageOf({ ...this.#seen, nowMs }, NOT_REFUSED);
    const { state } = page.prompt;
    return state === 'due' || (state !== 'free' && isFresh) ? page : undefined;
  }

  /** @param operator the operator of the request for which the next step is taken */
  async read({ refusals }: LedgerOperator): Promise<ConsentSnapshot> {
    const { clock, store, operators, onStranded } = this.#parts;
    const sentAtMs = clock.monotonicMs();
    const [snapshot, refusedForMs] = await Promise.all([
      store.read(this.#number),
      refusals.leftMs(),
    ]);
    const { consent } = snapshot.record ?? {};
    if (consent !== undefined && !operators.has(consent.operator)) onStranded?.();
    const mayBeLost = snapshot.record === undefined && store.isShared;
    const lost = mayBeLost ? this.#livingHere() : undefined;
    if (lost === undefined) this.#seen = snapshot;
    this.#time = clockElsewhere(snapshot.nowMs, sentAtMs, clock.monotonicMs());
    this.#isOwn = false;
    return { ...this.#pageOf(snapshot, refusedForMs), lost };
  }

  /** The failure for a request that no longer waits, by the latest page; `free` where the owner may be prompted. */
  failureNow(free: LookupFailure): LookupFailure {
    if (this.#seen === undefined) return free;
    const { rules, operators, clock } = this.#parts;
    const nowMs = this.nowMs();
    const { prompt } = consentViewOf({ ...this.#seen, nowMs }, this.#callerKey, rules, operators);
    return prompt.state === 'free' ? free : pendingFailure(prompt, nowMs, clock.nowMs());
  }

  /** Writes that the owner is about to be prompted. */
  async claimRequest(
    { record, version }: ConsentSnapshot,
    lookup: Lookup,
    { identity, rules, exchangeMs }: LedgerOperator,
  ): Promise<Claim<Requested> | Unclaimed> {
    const nowMs = this.nowMs();
    const leaseUntilMs = nowMs + rules.leaseMs;
    const row = { asker: this.#callerKey, operator: identity, lookup };
    const consent: Requested = {
      id: randomUUID(),
      ...row,
      unanswered: unansweredIn(record.ends, row),
      state: 'requested',
      leaseUntilMs,
      doubtUntilMs: nowMs + rules.doubtMs,
    };
    const withdrawn = { kind: 'withdrawn', id: consent.id } as const;
    const { ends } = record;
    let written: Written;
    try {
      written = await this.#write(version, { consent, ends });
    } catch (error) {
      unlessLost(error);
      const unknown = { consent, ends, version: undefined, leaseUntilMs };
      return { kind: 'lost', takeBack: () => this.learn(unknown, withdrawn) };
    }
    if (typeof written === 'string') return { kind: written };
    const claim = { kind: 'claimed', consent, ends, ...written, leaseUntilMs } as const;
    if (claim.nowMs + exchangeMs < leaseUntilMs) return claim;
    await this.learn(claim, withdrawn);
    return { kind: 'late' };
  }

  /** Writes that the operator is about to be polled. */
  async claimPoll(
    page: ConsentSnapshot,
    pending: Pending,
    { rules, exchangeMs }: LedgerOperator,
  ): Promise<Claim<Pending> | Extract<Unclaimed, { kind: 'conflict' | 'late' }>> {
    const nowMs = this.nowMs();
    const leaseUntilMs = nowMs + rules.leaseMs;
    // The next poll waits its interval, counted from this sending.
    const nextPollAtMs = nowMs + pending.intervalMs;
    const claim = await this.#claim(page, { ...pending, nextPollAtMs, leaseUntilMs });
    if (claim.kind === 'conflict' || claim.nowMs + exchangeMs < leaseUntilMs) return claim;
    // Our own lease says when the next poll may be made.
    return { kind: 'late' };
  }

  /** Writes that a granted token is about to be spent by this process. */
  claimGranted(page: ConsentSnapshot, granted: Granted, { rules }: LedgerOperator) {
    return this.#claim(page, { ...granted, leaseUntilMs: this.nowMs() + rules.leaseMs });
  }

  /** An existing record needs no further room: a full store counts as lost. */
  async #claim<C extends Pending | Granted>(
    { record: { ends }, version }: ConsentSnapshot,
    consent: C & Pick<Claim, 'leaseUntilMs'>,
  ): Promise<Claim<C> | Extract<Unclaimed, { kind: 'conflict' }>> {
    const written = await this.#write(version, { consent, ends });
    if (written === 'full') throw new SharedStateLost();
    if (written === 'conflict') return { kind: written };
    return { kind: 'claimed', consent, ends, ...written, leaseUntilMs: consent.leaseUntilMs };
  }

  /**
   * Writes a token that has arrived, until it can no longer be used; this process may spend it first. `undefined` where
   * the consent has ended meanwhile.
   */
  async grant(
    claim: Claim<Pending>,
    { value, expiresAtMs = Infinity, holder }: IssuedToken,
    { rules, exchangeMs }: LedgerOperator,
  ): Promise<Claim<Granted> | undefined> {
    const monotonicMs = this.#parts.clock.monotonicMs();
    // A record from before a loss may show a token that was spent: it ends no later than the doubt about the loss.
    const longestMs = this.#parts.store.isShared ? rules.doubtMs : MAX_LIFE_MS;
    const lifeMs = Math.min(expiresAtMs - exchangeMs - monotonicMs, MAX_LIFE_MS, longestMs);
    const leaseUntilMs = this.nowMs() + rules.leaseMs;
    const consent: Granted = {
      ...identityOf(claim.consent),
      state: 'granted',
      token: value,
      ...(holder === undefined ? {} : { holder }),
      untilMs: monotonicMs + this.#time.minAheadMs + lifeMs,
      leaseUntilMs,
    };
    const left = await this.learn(claim, { kind: 'lives', lives: consent });
    return left && { kind: 'claimed', consent, ...left, leaseUntilMs };
  }

  /**
   * Writes that the lookup leaves: no process makes another lookup with the token. `undefined` where another process
   * has claimed it meanwhile. The lookup does not leave until this is written, nor where {@link Spent.isLate}.
   */
  async spend(
    claim: Claim<Granted>,
    { rules, exchangeMs }: LedgerOperator,
  ): Promise<Spent | undefined> {
    const leaseUntilMs = this.nowMs() + rules.leaseMs;
    const identity = identityOf(claim.consent);
    const consent = { ...identity, state: 'redeemed', leaseUntilMs } as const;
    const left = await this.learn(claim, { kind: 'lives', lives: consent });
    if (left === undefined) return undefined;
    // A token that has just arrived is spent, however short its life.
    const claimedAtMs = claim.leaseUntilMs - rules.leaseMs;
    const tokenEndsAtMs = Math.max(claim.consent.untilMs, claimedAtMs) + exchangeMs;
    const isLate = left.nowMs >= Math.min(leaseUntilMs - exchangeMs, tokenEndsAtMs);
    return { kind: 'claimed', consent, ...left, leaseUntilMs, isLate };
  }

  /**
   * Writes the outcome of an exchange over whatever has replaced the claim, with retries while the lease lasts, or for
   * as long as the outcome bars a prompt where that is longer. `undefined` where it no longer counts.
   * @param claim without its version where that is not known
   */
  async learn(
    claim: ConsentRecord & { readonly version: number | undefined; readonly leaseUntilMs: number },
    learned: Learned,
  ): Promise<Pick<Claim, 'ends' | 'version' | 'nowMs'> | undefined> {
    const { store, rules } = this.#parts;
    let { version } = claim;
    let record = withLearned(claim, learned);
    let writeId = newWriteId();
    for (;;) {
      try {
        if (version === undefined) {
          const found = await store.read(this.#number);
          const current = asOf(found.record, found.nowMs, rules);
          // Where the claimed consent is still there, at most the ends of others have changed.
          const { consent } = current;
          const isClaimed = consent !== undefined && isDeepStrictEqual(consent, claim.consent);
          const next = (isClaimed ? withLearned : overruled)(current, learned);
          if (next === undefined) return undefined;
          [version, record, writeId] = [found.version, next, newWriteId()];
        }
        const written = await this.#write(version, record, writeId);
        if (written === 'full') throw new SharedStateLost();
        if (written !== 'conflict') return { ends: record.ends, ...written };
        version = undefined;
      } catch (error) {
        await this.again(error, claim.leaseUntilMs, neededUntilMs(learned));
      }
    }
  }

  /** Reporting an expiry twice does no harm: a lost store and a conflict are ignored. */
  async markDelivered({ record, version }: ConsentSnapshot, ids: readonly string[]): Promise<void> {
    await this.#write(version, withDelivered(record, ids)).catch(unlessLost);
  }

  /** Writes a consent again that a shared store has lost. If it had ended, the next poll shows that. */
  async restore(
    { record, version, doubtUntilMs }: ConsentSnapshot,
    lost: Pending,
    { rules }: LedgerOperator,
  ): Promise<Written> {
    this.#seen = undefined;
    const leaseUntilMs = this.nowMs() + rules.leaseMs;
    // In a store that has lost its memory, another process's poll may be on the wire without a trace.
    const consent = doubtUntilMs === undefined ? lost : { ...lost, leaseUntilMs };
    return this.#write(version, { consent, ends: record.ends });
  }

  /**
   * Waits until the store may be tried again. Rethrows an error other than {@link SharedStateLost}, and any error once
   * the lease is over and, while the process runs, `barredUntilMs` has passed.
   */
  async again(error: unknown, leaseUntilMs: number, barredUntilMs = 0): Promise<void> {
    const { clock, closing } = this.#parts;
    const untilMs = closing.aborted ? leaseUntilMs : Math.max(leaseUntilMs, barredUntilMs);
    if (!(error instanceof SharedStateLost) || this.nowMs() >= untilMs) throw error;
    await clock.sleep(STORE_AGAIN_MS);
  }

  async #write(version: number, record: ConsentRecord, writeId?: number): Promise<Written> {
    const { store, rules, clock } = this.#parts;
    const sentAtMs = clock.monotonicMs();
    const nowMs = sentAtMs + this.#time.maxAheadMs;
    const keepMs = keptUntilMs(record, rules) - nowMs;
    this.#isOwn = false;
    if (keepMs <= 0) {
      await store.remove(this.#number, version);
      this.#seen = { ...this.#seen, record, nowMs, version: 0 };
      return { version: 0, nowMs };
    }
    const written = await store.write(this.#number, version, record, keepMs, writeId);
    if (typeof written === 'string') return written;
    const repliedAtMs = clock.monotonicMs();
    this.#time = clockElsewhere(written.nowMs, sentAtMs, repliedAtMs);
    this.#isOwn = true;
    this.#seen = { ...this.#seen, record, ...written };
    return { version: written.version, nowMs: repliedAtMs + this.#time.maxAheadMs };
  }

  #pageOf(snapshot: Snapshot, refusedForMs: ByOperation): ConsentSnapshot {
    const { rules, operators } = this.#parts;
    const { version, nowMs, doubtUntilMs } = snapshot;
    const view = consentViewOf(snapshot, this.#callerKey, rules, operators);
    return { ...view, version, nowMs, time: this.#time, refusedForMs, doubtUntilMs };
  }

  /** The consent that we know to be live, where a shared store has none. */
  #livingHere(): Pending | undefined {
    const consent = this.#seen?.record?.consent;
    if (consent?.state !== 'pending' || consent.asker !== this.#callerKey) return undefined;
    return consent.livesUntilMs > this.nowMs() ? consent : undefined;
  }
}
