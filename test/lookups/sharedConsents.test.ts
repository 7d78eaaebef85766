import { beforeEach, describe, expect, it } from 'vitest';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { Question } from '../../src/domain/question.ts';
import type { LookupFailureCode } from '../../src/domain/errors.ts';
import { createCorrelator } from '../../src/http/correlator.ts';
import { Bulkhead } from '../../src/http/resilience/bulkhead.ts';
import { OPEN_AUTHORIZER } from '../../src/lookups/lookupAuthorizer.ts';
import { ConsentedLookups } from '../../src/consents/consentedLookups.ts';
import { Executor } from '../../src/lookups/executor.ts';
import type { LookupRoute } from '../../src/lookups/lookupRoute.ts';
import { MemoryFactCache } from '../../src/lookups/memoryFactCache.ts';
import type { Offer } from '../../src/lookups/plan.ts';
import type { Consent, ConsentRecord } from '../../src/consents/consentRecord.ts';
import { SharedStateLost } from '../../src/sharedState/sharedStateLost.ts';
import type { Snapshot, Written } from '../../src/consents/consentStore.ts';
import { MemoryConsentStore } from '../../src/consents/memoryConsentStore.ts';
import { MemoryRefusals } from '../../src/consents/memoryRefusals.ts';
import { told, type Told } from '../askedFields.ts';
import { settled, TestClock } from '../testClock.ts';
import { ALICE, hours, callerNamed } from '../values.ts';
import { ScriptedOperator } from './scriptedOperator.ts';
import { servedBy } from './servedBy.ts';

const WAIT_MS = 3000;
const LEASE_MS = 13_000;
const PENDING = { kind: 'go-on', goOn: 'authorization_pending' } as const;
const WINDOW: Question = { asks: 'window', maxAgeHours: hours(240) };
const OFFER: Offer = {
  operations: new Set(['retrieve-date', 'check']),
  maxAgeHours: 2400,
  dateMarginHours: 48,
  trustMonitoredPeriod: true,
};

/** A store that several replicas share, and that can be lost. */
class SharedStore extends MemoryConsentStore {
  override readonly isShared = true;
  isLost = false;
  /** Whether what is sent while it is lost is done all the same. */
  doesUnheard = false;
  doubtUntilMs = 0;
  /** How far its clock is ahead of what it showed first. */
  aheadMs = 0;

  override async read(number: PhoneNumber): Promise<Snapshot> {
    if (this.isLost) throw new SharedStateLost();
    const read = await super.read(number);
    return { ...read, nowMs: read.nowMs + this.aheadMs, doubtUntilMs: this.doubtUntilMs };
  }

  override async write(
    number: PhoneNumber,
    version: number,
    record: ConsentRecord,
    keepMs: number,
  ): Promise<Written> {
    if (!this.isLost) {
      const written = await super.write(number, version, record, keepMs);
      return typeof written === 'string'
        ? written
        : { ...written, nowMs: written.nowMs + this.aheadMs };
    }
    if (this.doesUnheard) await super.write(number, version, record, keepMs);
    throw new SharedStateLost();
  }

  override async remove(number: PhoneNumber, version: number): Promise<void> {
    if (this.isLost) throw new SharedStateLost();
    return super.remove(number, version);
  }

  /** Everything in it is gone. */
  async forget(): Promise<void> {
    const { version } = await super.read(ALICE);
    await super.remove(ALICE, version);
  }
}

/** Lies in the same place as the consents, and is lost with them. */
class SharedFacts extends MemoryFactCache {
  readonly #store: SharedStore;
  /** Whether it takes facts, and says nothing. */
  isSilent = false;

  constructor(clock: TestClock, store: SharedStore, keepMs = 0) {
    super(clock, () => ({ keepMs, resultMs: 60_000 }));
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

function failing(code: LookupFailureCode) {
  return { failure: expect.objectContaining({ code }) };
}

describe('lookups with consent in several replicas', () => {
  let clock: TestClock;
  let operator: ScriptedOperator;
  let store: SharedStore;
  let factCache: SharedFacts;
  let one: LookupRoute;
  let other: LookupRoute;

  beforeEach(() => {
    clock = new TestClock();
    operator = new ScriptedOperator(clock);
    store = new SharedStore(clock);
    factCache = new SharedFacts(clock, store);
    one = replica();
    other = replica();
  });

  function replica(waitMs = WAIT_MS): LookupRoute {
    const bulkhead = () => new Bulkhead({ permits: 10, queue: 10 }, clock);
    const rules = {
      doubtMs: 300_000,
      deniedMs: 600_000,
      failureMs: 60_000,
      resultMs: 60_000,
      leaseMs: LEASE_MS,
      firstPoll: 'at-once' as const,
    };
    return new ConsentedLookups({ store, factCache, rules, clock }, waitMs).routeTo({
      identity: 'operator',
      name: 'operator',
      tokens: operator,
      operator,
      admission: OPEN_AUTHORIZER,
      refusals: new MemoryRefusals(clock),
      offer: OFFER,
      rules,
      bulkheads: { requests: bulkhead(), polls: bulkhead() },
      exchangeMs: 10_000,
    });
  }

  function executorOf(
    lookups: LookupRoute,
    caller: string,
    signal = new AbortController().signal,
  ): Executor {
    return new Executor(servedBy({ name: 'operator', offer: OFFER, route: lookups }), {
      caller: callerNamed(caller),
      purpose: 'fraud-prevention',
      correlator: createCorrelator(undefined),
      cameInAtMs: clock.monotonicMs(),
      signal,
      deadlineMs: clock.monotonicMs() + 10_000,
    });
  }

  async function ask(lookups: LookupRoute, caller = 'anna'): Promise<Told | Error> {
    const executor = executorOf(lookups, caller);
    await executor.ask(ALICE, [WINDOW]);
    return told(executor.answerTo(ALICE, WINDOW));
  }

  async function after(ms: number, asked: Promise<Told | Error>): Promise<Told | Error> {
    await clock.advance(ms);
    return asked;
  }

  it('asks once and polls one at a time, and answers every waiter wherever it waits', async () => {
    operator.polled = [PENDING, PENDING, 'granted'];
    operator.latencyMs = 100;
    [one, other] = [replica(9000), replica(9000)];
    const asked = [ask(one), ask(other), ask(one), ask(other)];
    await clock.advance(9000);
    const answered = await Promise.all(asked);
    expect(answered).toEqual(Array.from({ length: 4 }, () => ({ swapped: false })));
    expect(operator.prompts).toHaveLength(1);
    expect(operator.polls).toHaveLength(3);
    expect(operator.lookups).toHaveLength(1);
    const gaps = operator.polls.slice(1).map(({ at }, i) => at - (operator.polls[i]?.at ?? 0));
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(2000);
  });

  it('resumes in one replica what another has begun', async () => {
    operator.polled = [PENDING, PENDING, 'granted'];
    expect(await after(WAIT_MS, ask(one))).toEqual(failing('CONSENT_PENDING'));
    expect(await after(WAIT_MS, ask(other))).toEqual({ swapped: false });
    expect(operator.prompts).toHaveLength(1);
  });

  it('tells the failure of the one lookup to every waiter, and prompts no owner for it', async () => {
    operator.polled = [PENDING, 'granted'];
    operator.looked = [{ code: 'NUMBER_NOT_SERVED', reach: 'number' }];
    const asked = [ask(one), ask(other)];
    await clock.advance(WAIT_MS);
    expect(await Promise.all(asked)).toEqual([
      failing('NUMBER_NOT_SERVED'),
      failing('NUMBER_NOT_SERVED'),
    ]);
    expect(operator.prompts).toHaveLength(1);
  });

  it('shows nothing that one caller learned to another', async () => {
    expect(await after(0, ask(one))).toEqual({ swapped: false });
    await after(0, ask(other, 'bert'));
    expect(operator.prompts).toHaveLength(2);
  });

  it('takes over from a poller that died, once its lease is over', async () => {
    operator.polled = [PENDING];
    await after(WAIT_MS, ask(one));
    const { record, version, nowMs } = await store.read(ALICE);
    const consent = record?.consent;
    if (consent?.state !== 'pending') throw new Error('It is not pending.');
    const polled = { ...consent, leaseUntilMs: nowMs + LEASE_MS };
    await store.write(ALICE, version, { ends: [], consent: polled }, 120_000);
    const polls = operator.polls.length;
    expect(await after(WAIT_MS, ask(other))).toEqual(failing('CONSENT_PENDING'));
    expect(operator.polls).toHaveLength(polls);
    await clock.advance(LEASE_MS - WAIT_MS);
    operator.polled = ['granted'];
    expect(await after(0, ask(other))).toEqual({ swapped: false });
  });

  /** What another process does to the consent that lives. */
  async function changeConsent(change: (found: Consent, nowMs: number) => Consent): Promise<void> {
    const { record, version, nowMs } = await store.read(ALICE);
    if (record?.consent === undefined) throw new Error('No consent lives.');
    const consent = change(record.consent, nowMs);
    await store.write(ALICE, version, { ...record, consent }, 120_000);
  }

  it('sends no poll that has fallen due where another replica polls', async () => {
    operator.polled = [PENDING];
    one = replica(9000);
    const asked = ask(one);
    await clock.advance(1900);
    await changeConsent((found, nowMs) => ({ ...found, leaseUntilMs: nowMs + LEASE_MS }));
    expect(await after(7100, asked)).toEqual(failing('CONSENT_PENDING'));
    expect(operator.polls).toHaveLength(1);
  });

  it('tells a request that joins what another replica has learned since', async () => {
    operator.polled = [PENDING];
    one = replica(9000);
    const asked = ask(one);
    await clock.advance(1000);
    await changeConsent(({ id, asker, operator: at, lookup }, nowMs) => ({
      id,
      asker,
      operator: at,
      lookup,
      state: 'closed',
      failure: { code: 'CONSENT_DENIED', reach: 'number' },
      untilMs: nowMs + 600_000,
    }));
    expect(await after(0, ask(one))).toEqual(failing('CONSENT_DENIED'));
    expect(await asked).toEqual(failing('CONSENT_DENIED'));
    expect(operator.polls).toHaveLength(1);
  });

  it('prompts under no lease that is over by the clock of a server that has taken over', async () => {
    const write = store.write.bind(store);
    store.write = async (...written) => {
      // What is written from now on is replied to by another one.
      store.aheadMs = LEASE_MS;
      return write(...written);
    };
    const leftMs: number[] = [];
    const requestConsent = operator.requestConsent.bind(operator);
    operator.requestConsent = async (subject) => {
      const { record, nowMs } = await store.read(ALICE);
      const { consent } = record ?? {};
      leftMs.push(consent?.state === 'requested' ? consent.leaseUntilMs - nowMs : 0);
      return requestConsent(subject);
    };
    expect(await after(0, ask(one))).toEqual({ swapped: false });
    expect(leftMs).toEqual([LEASE_MS]);
  });

  it('ends with its request, and with what was billed, while a store says nothing to a fact', async () => {
    const date = { text: 'yesterday', epochMs: clock.nowMs() - 24 * 3_600_000 };
    operator.looked = [
      { operation: 'retrieve-date', latestSimChange: date, sentAtMs: clock.nowMs() },
    ];
    operator.polled = ['granted', PENDING];
    const deadline = new AbortController();
    const executor = executorOf(one, 'anna', deadline.signal);
    const asked = executor.ask(ALICE, [{ asks: 'date' }, WINDOW]);
    await clock.advance(0);
    await settled();
    factCache.isSilent = true;
    await clock.advance(WAIT_MS);
    deadline.abort();
    await asked;
    expect(told(executor.answerTo(ALICE, { asks: 'date' }))).toEqual({ latestSimChange: date });
    expect(told(executor.answerTo(ALICE, WINDOW))).toEqual(failing('CONSENT_PENDING'));
  });

  it('says STATE_UNAVAILABLE, and prompts no owner, while the store is lost', async () => {
    store.isLost = true;
    expect(await after(0, ask(one))).toEqual(failing('STATE_UNAVAILABLE'));
    expect(operator.prompts).toHaveLength(0);
  });

  it('prompts no owner when the intent may not be written, and takes it back', async () => {
    store.doesUnheard = true;
    const write = store.write.bind(store);
    store.write = (...written) => {
      store.isLost = true;
      return write(...written);
    };
    expect(await after(0, ask(one))).toEqual(failing('STATE_UNAVAILABLE'));
    store.write = write;
    store.isLost = false;
    await clock.advance(1000);
    expect(operator.prompts).toHaveLength(0);
    expect(await after(0, ask(other))).toEqual({ swapped: false });
    expect(operator.prompts).toHaveLength(1);
  });

  it.each([false, true])(
    'keeps the acknowledgement that came while the store was lost (done unheard: %s)',
    async (doesUnheard) => {
      operator.polled = [PENDING];
      operator.latencyMs = 100;
      store.doesUnheard = doesUnheard;
      const asked = ask(one);
      await clock.advance(50);
      store.isLost = true;
      await clock.advance(5000);
      expect(await asked).toEqual(failing('CONSENT_PENDING'));
      store.isLost = false;
      await clock.advance(1000);
      operator.polled = ['granted'];
      expect(await after(1000, ask(other))).toEqual({ swapped: false });
      expect(operator.prompts).toHaveLength(1);
    },
  );

  it('stays in doubt when the store does not come back for the acknowledgement', async () => {
    operator.latencyMs = 100;
    const asked = ask(one);
    await clock.advance(50);
    store.isLost = true;
    await clock.advance(LEASE_MS + 1000);
    expect(await asked).toEqual(failing('CONSENT_PENDING'));
    store.isLost = false;
    expect(await after(0, ask(other))).toEqual(failing('CONSENT_PENDING'));
    await clock.advance(300_000);
    expect(await after(0, ask(other))).toEqual(failing('CONSENT_EXPIRED'));
    expect(operator.prompts).toHaveLength(1);
  });

  it('keeps a failure that was returned while the store was lost, although its lease is over', async () => {
    operator.looked = [{ code: 'OPERATOR_UNAVAILABLE', reach: 'number' }];
    operator.latencyMs = 100;
    const asked = ask(one);
    await clock.advance(250);
    store.isLost = true;
    await clock.advance(WAIT_MS);
    expect(await asked).toEqual(failing('OPERATOR_UNAVAILABLE'));
    await clock.advance(LEASE_MS);
    store.isLost = false;
    await clock.advance(1000);
    expect(await after(0, ask(other))).toEqual(failing('OPERATOR_UNAVAILABLE'));
    expect(operator.prompts).toHaveLength(1);
  });

  it('answers with a token that came while the store was lost', async () => {
    operator.polled = [PENDING, 'granted'];
    operator.latencyMs = 100;
    const asked = ask(one);
    await clock.advance(2250);
    store.isLost = true;
    await clock.advance(1000);
    expect(await asked).toEqual({ swapped: false });
    expect(operator.lookups).toHaveLength(1);
  });

  it('goes on with a consent that it waits for when the store has forgotten it', async () => {
    operator.polled = [PENDING];
    one = replica(60_000);
    const asked = ask(one);
    await settled();
    await store.forget();
    store.doubtUntilMs = clock.monotonicMs() + 300_000;
    expect(await after(0, ask(other, 'bert'))).toEqual(failing('CONSENT_PENDING'));
    const { length } = operator.polls;
    await clock.advance(LEASE_MS - 1000);
    // Another replica's poll, of which the store no longer knows, may be on the wire.
    expect(operator.polls).toHaveLength(length);
    operator.polled = ['granted'];
    await clock.advance(LEASE_MS);
    expect(await asked).toEqual({ swapped: false });
    expect(operator.prompts).toHaveLength(1);
  });

  it('prompts no owner while the store may have forgotten a consent, and says until when', async () => {
    store.doubtUntilMs = clock.monotonicMs() + 300_000;
    expect(await after(0, ask(one))).toEqual({
      failure: { code: 'CONSENT_PENDING', reach: 'number', retryAfterSeconds: 300 },
    });
    await clock.advance(300_000);
    expect(await after(0, ask(one))).toEqual({ swapped: false });
  });

  it('returns what another replica got while this one was held up, without another prompt', async () => {
    factCache = new SharedFacts(clock, store, 60_000);
    [one, other] = [replica(60_000), replica(60_000)];
    const read = store.read.bind(store);
    store.read = async (number) => {
      store.read = read;
      await clock.sleep(20_000);
      return read(number);
    };
    const asked = ask(one);
    await clock.advance(100);
    const askedElsewhere = ask(other);
    await clock.advance(10_000);
    expect(await askedElsewhere).toEqual({ swapped: false });
    await clock.advance(15_000);
    expect(await asked).toEqual({ swapped: false });
    expect(operator.prompts).toHaveLength(1);
  });

  it('does not send a request for which it was held up too long', async () => {
    const write = store.write.bind(store);
    store.write = async (...written) => {
      const result = await write(...written);
      store.write = write;
      await clock.sleep(LEASE_MS);
      store.isLost = true;
      return result;
    };
    const asked = ask(one);
    await clock.advance(2 * LEASE_MS);
    await asked;
    expect(operator.prompts).toHaveLength(0);
    store.isLost = false;
    expect(await after(0, ask(other))).toEqual(failing('CONSENT_PENDING'));
    expect(operator.prompts).toHaveLength(0);
  });
});
