import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { Question } from '../../src/domain/question.ts';
import { createCorrelator } from '../../src/http/correlator.ts';
import { Bulkhead } from '../../src/http/resilience/bulkhead.ts';
import type {
  LookupAuthorizer,
  Admitted,
  AuthorizerRequest,
  Denied,
  CachedAnswer,
} from '../../src/lookups/lookupAuthorizer.ts';
import { ConsentedLookups } from '../../src/consents/consentedLookups.ts';
import { Executor } from '../../src/lookups/executor.ts';
import type { LookupRequest, LookupRoute } from '../../src/lookups/lookupRoute.ts';
import { KeptAnswers } from '../../src/lookups/keptAnswers.ts';
import { MemoryFactCache } from '../../src/lookups/memoryFactCache.ts';
import type { Offer } from '../../src/lookups/plan.ts';
import type { LookupFailure } from '../../src/domain/errors.ts';
import { MemoryConsentStore } from '../../src/consents/memoryConsentStore.ts';
import { MemoryRefusals } from '../../src/consents/memoryRefusals.ts';
import { told, type Told } from '../askedFields.ts';
import { TestClock } from '../testClock.ts';
import { ALICE, hours, callerNamed } from '../values.ts';
import { ScriptedOperator } from './scriptedOperator.ts';
import { servedBy } from './servedBy.ts';

export const DATE: Question = { asks: 'date' };

export function window(maxAgeHours: number): Question {
  return { asks: 'window', maxAgeHours: hours(maxAgeHours) };
}

/** How one request asks. */
export interface AskSettings {
  readonly caller?: string;
  readonly purpose?: string;
  readonly number?: PhoneNumber;
  readonly waitMs?: number;
  /** Whether it has gone before its answers are there. */
  readonly isGone?: boolean;
  /** Until its deadline. */
  readonly timeLeftMs?: number;
}

const OFFER: Offer = {
  operations: new Set(['retrieve-date', 'check']),
  maxAgeHours: 2400,
  dateMarginHours: 48,
  trustMonitoredPeriod: true,
};

/** Everything below the executor in the 3-legged flow, in replicas on one store, with an operator that is scripted. */
export class AskedConsents {
  readonly clock = new TestClock();
  readonly operator = new ScriptedOperator(this.clock);
  readonly admission = new RecordingAdmission();
  readonly store = new MemoryConsentStore(this.clock);
  readonly #replicas: readonly LookupRoute[];

  constructor({ replicas = 1, keepMs = 60_000, resultMs = 60_000, permits = 10 } = {}) {
    const { clock, operator, admission, store } = this;
    const factCache = new MemoryFactCache(clock, () => ({ keepMs, resultMs }));
    const bulkhead = () => new Bulkhead({ permits, queue: 10 }, clock);
    const rules = {
      doubtMs: 300_000,
      deniedMs: 600_000,
      failureMs: 60_000,
      resultMs: 60_000,
      leaseMs: 17_000,
      firstPoll: 'at-once' as const,
    };
    // What one replica hears of refusals the others do.
    const refusals = new MemoryRefusals(clock);
    this.#replicas = Array.from({ length: replicas }, () => {
      const route = new ConsentedLookups({ store, factCache, rules, clock }, 3000).routeTo({
        identity: 'operator',
        name: 'operator',
        tokens: operator,
        operator,
        admission,
        refusals,
        offer: OFFER,
        rules,
        bulkheads: { requests: bulkhead(), polls: bulkhead() },
        exchangeMs: 10_000,
      });
      return new KeptAnswers(route, { factCache, admission, offer: OFFER });
    });
  }

  /** The answers of one request, as values or failures, in the order of the questions. */
  async ask(
    questions: readonly Question[],
    { number = ALICE, isGone = false, ...settings }: AskSettings = {},
    replica = 0,
  ): Promise<readonly (Told | Error)[]> {
    const lookups = this.replica(replica);
    const executor = new Executor(
      servedBy({ name: 'operator', offer: OFFER, route: lookups }),
      this.request(settings),
    );
    await executor.ask(number, questions);
    if (!isGone) executor.told();
    return questions.map((question) => told(executor.answerTo(number, question)));
  }

  request({
    caller = 'anna',
    purpose = 'fraud-prevention',
    waitMs = 3000,
    timeLeftMs = 60_000,
  }: AskSettings = {}): LookupRequest {
    const cameInAtMs = this.clock.monotonicMs();
    return {
      caller: callerNamed(caller),
      purpose,
      correlator: createCorrelator(undefined),
      cameInAtMs,
      signal: new AbortController().signal,
      deadlineMs: cameInAtMs + timeLeftMs,
      waitMs,
    };
  }

  replica(index = 0): LookupRoute {
    const lookups = this.#replicas[index];
    if (lookups === undefined) throw new Error('There are fewer replicas.');
    return lookups;
  }

  /** What it is asked comes to, so much later. */
  async after<T>(ms: number, asked: Promise<T>): Promise<T> {
    await this.clock.advance(ms);
    return asked;
  }
}

/** Notes what it is told; admits and records all of it unless it is said. */
export class RecordingAdmission implements LookupAuthorizer {
  readonly asked: AuthorizerRequest[] = [];
  readonly heardBy: CachedAnswer[] = [];
  /** What comes of the next ones in place of being admitted or recorded. */
  failure: LookupFailure | undefined;

  admit(asked: AuthorizerRequest): Admitted | Denied {
    this.asked.push(asked);
    const { failure } = this;
    return failure === undefined
      ? { kind: 'admitted', ended: () => undefined }
      : { kind: 'denied', failure };
  }

  heard(heard: CachedAnswer): Promise<LookupFailure | undefined> {
    this.heardBy.push(heard);
    return Promise.resolve(this.failure);
  }
}
