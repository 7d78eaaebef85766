import { expect } from 'vitest';
import type { LookupFailure, LookupFailureCode } from '../../src/domain/errors.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { Question } from '../../src/domain/question.ts';
import type { Clock } from '../../src/system/clock.ts';
import { Bulkhead } from '../../src/resilience/bulkhead.ts';
import type {
  LookupAuthorizer,
  Admitted,
  AuthorizerRequest,
  Denied,
  CachedAnswer,
} from '../../src/lookups/lookupAuthorizer.ts';
import { ConsentedLookups } from '../../src/consents/consentedLookups.ts';
import type { ConsentOperator } from '../../src/consents/consentLedger.ts';
import type { LookupRoute } from '../../src/lookups/lookupRoute.ts';
import { KeptAnswers } from '../../src/lookups/keptAnswers.ts';
import { MemoryFactCache } from '../../src/lookups/factCache.ts';
import {
  MemoryConsentStore,
  MemoryRefusals,
  type Snapshot,
  type Written,
} from '../../src/consents/consentStore.ts';
import { SharedStateLost } from '../../src/sharedState/redis.ts';
import type { Polled } from '../../src/tokens/tokenManager.ts';
import { RULES as RECORD_RULES } from '../consents/records.ts';
import type { Told } from '../support/askedFields.ts';
import { TestClock } from '../support/testClock.ts';
import { ALICE } from '../support/values.ts';
import {
  answersOf,
  askAll,
  executorOn,
  OFFER,
  requestAt,
  type RequestSettings,
} from './requests.ts';
import { ScriptedOperator } from './scriptedOperator.ts';

export const SECOND_MS = 1000;
export const LEASE_MS = 13_000;
export const RULES = { ...RECORD_RULES, leaseMs: LEASE_MS };
export const PENDING: Polled = { kind: 'go-on', goOn: 'authorization_pending' };

/** The failure beside another caller's consent, which it does not reveal. */
export const ANOTHERS = { code: 'CONSENT_PENDING', reach: 'number', retryAfterSeconds: 60 };

export function failureOf([answer]: readonly (Told | Error)[]): LookupFailure | undefined {
  return answer !== undefined && 'failure' in answer ? answer.failure : undefined;
}

/** One answer that failed. */
export function failing(code: LookupFailureCode) {
  return { failure: expect.objectContaining({ code }) as LookupFailure };
}

/** How one request is made. */
export interface AskSettings extends Omit<RequestSettings, 'deadlineMs'> {
  readonly number?: PhoneNumber;
  /** Whether it has left before its answers arrive. */
  readonly isGone?: boolean;
  /** Until its deadline. */
  readonly timeLeftMs?: number;
}

/** Everything below the executor in the 3-legged flow, in replicas on one store, with a scripted operator. */
export class AskedConsents {
  readonly clock = new TestClock();
  readonly operator = new ScriptedOperator(this.clock);
  readonly admission = new RecordingAdmission();
  readonly store: LosableStore;
  readonly factCache: LosableFacts;
  readonly #replicas: readonly LookupRoute[];

  constructor({
    replicas = 1,
    isShared = false,
    keepMs = 60_000,
    resultMs = 60_000,
    permits = 10,
    waitMs = 3000,
    maxBytes = 2 ** 20,
  } = {}) {
    const { clock, operator, admission } = this;
    const store = new LosableStore(clock, maxBytes, isShared);
    const factCache = new LosableFacts(clock, store, { keepMs, resultMs });
    this.store = store;
    this.factCache = factCache;
    // Refusals are shared by all replicas.
    const asked = { admission, rules: RULES, permits, refusals: new MemoryRefusals(clock) };
    this.#replicas = Array.from({ length: replicas }, () => {
      const consented = new ConsentedLookups({ store, factCache, rules: RULES, clock }, waitMs);
      const route = consented.routeTo(consentOperator('operator', operator, clock, asked));
      return new KeptAnswers(route, { factCache, admission, offer: OFFER });
    });
  }

  /** The answers of one request. */
  async ask(
    questions: readonly Question[],
    { number = ALICE, isGone = false, timeLeftMs = 60_000, ...settings }: AskSettings = {},
    replica = 0,
  ): Promise<readonly (Told | Error)[]> {
    const { clock } = this;
    const deadlineMs = clock.monotonicMs() + timeLeftMs;
    const request = requestAt(clock, { deadlineMs, ...settings });
    const executor = executorOn(this.replica(replica), request);
    await askAll(executor, number, questions);
    if (!isGone && !request.signal.aborted) executor.delivered();
    return answersOf(executor, number, questions);
  }

  /** The same, after so much time. */
  async heard(ms: number, ...asked: Parameters<AskedConsents['ask']>) {
    return this.after(ms, this.ask(...asked));
  }

  replica(index = 0): LookupRoute {
    const lookups = this.#replicas[index];
    if (lookups === undefined) throw new Error('There are fewer replicas.');
    return lookups;
  }

  async after<T>(ms: number, asked: Promise<T>): Promise<T> {
    await this.clock.advance(ms);
    return asked;
  }
}

/** An operator of consents, whose part a test plays. */
export function consentOperator(
  identity: string,
  played: ConsentOperator['tokens'] & ConsentOperator['operator'],
  clock: Clock,
  {
    permits = 10,
    ...parts
  }: Partial<ConsentOperator> &
    Pick<ConsentOperator, 'admission' | 'rules'> & { readonly permits?: number },
): ConsentOperator {
  const bulkhead = () => new Bulkhead({ permits, queue: 10 }, clock);
  return {
    identity,
    name: identity,
    tokens: played,
    operator: played,
    refusals: new MemoryRefusals(clock),
    offer: OFFER,
    bulkheads: { requests: bulkhead(), polls: bulkhead() },
    exchangeMs: 10_000,
    ...parts,
  };
}

/** A store that a test can lose. */
class LosableStore extends MemoryConsentStore {
  override readonly isShared: boolean;
  isLost = false;
  /** Whether writes are done while it is lost, without a reply. */
  writesWhileLost = false;
  /** Until then its numbers are in doubt. */
  doubtUntilMs: number | undefined;
  /** How far its clock is ahead of its first reading. */
  aheadMs = 0;
  /** Run once, before the next read or write. */
  beforeRead: (() => unknown) | undefined;
  beforeWrite: (() => unknown) | undefined;

  constructor(clock: Clock, maxBytes: number, isShared: boolean) {
    super(clock, maxBytes);
    this.isShared = isShared;
  }

  override async read(number: PhoneNumber): Promise<Snapshot> {
    const { beforeRead } = this;
    this.beforeRead = undefined;
    await beforeRead?.();
    if (this.isLost) throw new SharedStateLost();
    const read = await super.read(number);
    const { aheadMs, doubtUntilMs } = this;
    const doubt = doubtUntilMs === undefined ? {} : { doubtUntilMs };
    return { ...read, nowMs: read.nowMs + aheadMs, ...doubt };
  }

  override async write(...change: Parameters<MemoryConsentStore['write']>): Promise<Written> {
    const { beforeWrite } = this;
    this.beforeWrite = undefined;
    await beforeWrite?.();
    if (this.isLost) {
      if (this.writesWhileLost) await super.write(...change);
      throw new SharedStateLost();
    }
    const written = await super.write(...change);
    if (typeof written === 'string') return written;
    return { ...written, nowMs: written.nowMs + this.aheadMs };
  }

  override async remove(number: PhoneNumber, version: number): Promise<void> {
    if (this.isLost) throw new SharedStateLost();
    return super.remove(number, version);
  }

  /** Loses everything. */
  async forget(): Promise<void> {
    const { version } = await super.read(ALICE);
    await super.remove(ALICE, version);
  }
}

/** Facts beside the consents, which are lost with them. */
class LosableFacts extends MemoryFactCache {
  readonly #store: LosableStore;
  /** Whether it receives facts without a reply. */
  isSilent = false;

  constructor(clock: Clock, store: LosableStore, kept: { keepMs: number; resultMs: number }) {
    super(clock, () => kept);
    this.#store = store;
  }

  override async keep(...kept: Parameters<MemoryFactCache['keep']>): Promise<void> {
    if (this.#store.isLost) throw new SharedStateLost();
    if (this.isSilent) return new Promise(() => undefined);
    return super.keep(...kept);
  }

  override async recall(...recalled: Parameters<MemoryFactCache['recall']>) {
    if (this.#store.isLost) throw new SharedStateLost();
    return super.recall(...recalled);
  }
}

/** Notes everything; admits and records it unless `failure` is set. */
class RecordingAdmission implements LookupAuthorizer {
  readonly asked: AuthorizerRequest[] = [];
  readonly heardBy: CachedAnswer[] = [];
  /** The lookups whose end is recorded. */
  readonly ended: AuthorizerRequest[] = [];
  /** The failure of what follows, in place of being admitted or recorded. */
  failure: LookupFailure | undefined;
  /** What lookups wait for before they are admitted, and until their end is recorded. */
  lookupsWait: Promise<void> | undefined;
  endsWait: Promise<void> | undefined;

  admit(asked: AuthorizerRequest): Admitted | Denied | Promise<Admitted | Denied> {
    this.asked.push(asked);
    const { failure, lookupsWait, endsWait } = this;
    const ended = (): Promise<void> | undefined => {
      if (asked.event !== 'lookup') return undefined;
      this.ended.push(asked);
      return endsWait;
    };
    const admitted: Admitted | Denied =
      failure === undefined ? { kind: 'admitted', ended } : { kind: 'denied', failure };
    if (asked.event !== 'lookup' || lookupsWait === undefined) return admitted;
    return lookupsWait.then(() => admitted);
  }

  delivered(heard: CachedAnswer): Promise<LookupFailure | undefined> {
    this.heardBy.push(heard);
    return Promise.resolve(this.failure);
  }
}
