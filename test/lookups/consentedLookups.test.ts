import { beforeEach, describe, expect, it } from 'vitest';
import type { MaxAgeHours } from '../../src/domain/maxAge.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { Question } from '../../src/domain/question.ts';
import type { LookupFailure } from '../../src/domain/errors.ts';
import { OPEN_AUTHORIZER } from '../../src/lookups/lookupAuthorizer.ts';
import { createCorrelator } from '../../src/http/correlator.ts';
import { Bulkhead } from '../../src/http/resilience/bulkhead.ts';
import { ConsentedLookups } from '../../src/consents/consentedLookups.ts';
import { Executor } from '../../src/lookups/executor.ts';
import { KeptAnswers } from '../../src/lookups/keptAnswers.ts';
import type { LookupRoute } from '../../src/lookups/lookupRoute.ts';
import { MemoryFactCache } from '../../src/lookups/memoryFactCache.ts';
import type { Offer } from '../../src/lookups/plan.ts';
import { MemoryConsentStore } from '../../src/consents/memoryConsentStore.ts';
import { MemoryRefusals } from '../../src/consents/memoryRefusals.ts';
import type { Polled } from '../../src/tokens/tokenManager.ts';
import { told, type Told } from '../askedFields.ts';
import { settled, START_MS, TestClock } from '../testClock.ts';
import { ScriptedOperator } from './scriptedOperator.ts';
import { callerNamed } from '../values.ts';
import { servedBy } from './servedBy.ts';
import { RULES } from '../consents/records.ts';

const NUMBER = '+447700900001' as PhoneNumber;
const HOUR_MS = 3_600_000;
const SECOND_MS = 1000;
const WAIT_MS = 3000;

const PENDING: Polled = { kind: 'go-on', goOn: 'authorization_pending' };
const EXPIRED: Polled = { kind: 'failed', failure: { code: 'CONSENT_EXPIRED', reach: 'number' } };

function window(hours: number): Question {
  return { asks: 'window', maxAgeHours: hours as MaxAgeHours };
}

/** What tells nothing of another caller's consent. */
const ANOTHERS: LookupFailure = {
  code: 'CONSENT_PENDING',
  reach: 'number',
  retryAfterSeconds: 60,
};

const DATE: Question = { asks: 'date' };

const OFFER: Offer = {
  operations: new Set(['retrieve-date', 'check']),
  maxAgeHours: 2400,
  dateMarginHours: 48,
  trustMonitoredPeriod: true,
};

function failure(answer: Told | Error | undefined): LookupFailure | undefined {
  return answer !== undefined && 'failure' in answer ? answer.failure : undefined;
}

class SharedConsentStore extends MemoryConsentStore {
  override readonly isShared = true;
}

describe.each([
  ['of its own', MemoryConsentStore],
  ['that is shared', SharedConsentStore],
])('lookups with consent, in a store %s', (_store, Store) => {
  let clock: TestClock;
  let operator: ScriptedOperator;
  let store: MemoryConsentStore;
  let factCache: MemoryFactCache;
  let lookups: LookupRoute;

  beforeEach(() => {
    clock = new TestClock();
    operator = new ScriptedOperator(clock);
    store = new Store(clock);
    factCache = new MemoryFactCache(clock, () => ({ keepMs: 0, resultMs: 60_000 }));
    lookups = route();
  });

  function route(waitMs = WAIT_MS): LookupRoute {
    const bulkhead = () => new Bulkhead({ permits: 10, queue: 10 }, clock);
    const parts = { store, factCache, rules: RULES, clock };
    const consented = new ConsentedLookups(parts, waitMs).routeTo({
      identity: 'operator',
      name: 'operator',
      tokens: operator,
      operator,
      admission: OPEN_AUTHORIZER,
      refusals: new MemoryRefusals(clock),
      offer: OFFER,
      rules: RULES,
      bulkheads: { requests: bulkhead(), polls: bulkhead() },
      exchangeMs: 10_000,
    });
    return new KeptAnswers(consented, { factCache, admission: OPEN_AUTHORIZER, offer: OFFER });
  }

  /** One GraphQL request. */
  function ask(
    questions: readonly Question[],
    {
      caller = 'anna',
      purpose = 'fraud-prevention',
      signal = new AbortController().signal,
      number = NUMBER,
    }: { caller?: string; purpose?: string; signal?: AbortSignal; number?: PhoneNumber } = {},
  ): Promise<(Told | Error)[]> {
    const executor = new Executor(servedBy({ name: 'operator', offer: OFFER, route: lookups }), {
      caller: callerNamed(caller),
      purpose,
      correlator: createCorrelator(undefined),
      cameInAtMs: clock.monotonicMs(),
      signal,
      deadlineMs: clock.monotonicMs() + 10_000,
    });
    return executor.ask(number, questions).then(() => {
      if (!signal.aborted) executor.told();
      return questions.map((question) => told(executor.answerTo(number, question)));
    });
  }

  /** The answers once nothing but time can move them, `ms` later. */
  async function after(ms: number, asked: Promise<(Told | Error)[]>) {
    await clock.advance(ms);
    return asked;
  }

  /** A consent flow that spins reads for ever, and lets no timer fire. */
  function boundReads(max: number): void {
    const read = store.read.bind(store);
    let reads = 0;
    store.read = (number) => {
      reads += 1;
      if (reads > max) throw new Error(`The store was read more than ${max} times.`);
      return read(number);
    };
  }

  it('asks the owner once, polls at once, and spends the token at once', async () => {
    expect(await after(0, ask([window(240)]))).toEqual([{ swapped: false }]);
    expect(operator.prompts).toHaveLength(1);
    expect(operator.polls).toHaveLength(1);
    expect(operator.lookups.map(({ lookup }) => lookup)).toEqual([
      { operation: 'check', maxAgeHours: 240 },
    ]);
  });

  it('waits as long as the request has patience, polling each interval', async () => {
    operator.polled = [PENDING, 'granted'];
    const asked = ask([window(240)]);
    expect(await after(2 * SECOND_MS, asked)).toEqual([{ swapped: false }]);
    expect(operator.polls.map(({ at }) => at)).toEqual([0, 2 * SECOND_MS]);
  });

  it('answers CONSENT_PENDING when patience ends, and resumes the same request by asking again', async () => {
    operator.polled = [PENDING, PENDING, 'granted'];
    const [first] = await after(WAIT_MS, ask([window(240)]));
    expect(failure(first)).toEqual({
      code: 'CONSENT_PENDING',
      reach: 'number',
      retryAfterSeconds: 1,
      expiresAtMs: START_MS + 120 * SECOND_MS,
    });
    await clock.advance(SECOND_MS);
    expect(await after(0, ask([window(240)]))).toEqual([{ swapped: false }]);
    expect(operator.prompts).toHaveLength(1);
    expect(operator.polls.map(({ at }) => at)).toEqual([0, 2000, 4000]);
  });

  it('polls only while a request waits', async () => {
    operator.polled = [PENDING];
    await after(WAIT_MS, ask([window(240)]));
    const polls = operator.polls.length;
    await clock.advance(60 * SECOND_MS);
    expect(operator.polls).toHaveLength(polls);
    expect(clock.sleepers).toBe(0);
  });

  it('adds five seconds to the interval for good after slow_down', async () => {
    operator.polled = [{ kind: 'go-on', goOn: 'slow_down' }, PENDING];
    lookups = route(30_000);
    const asked = ask([window(240)]);
    await clock.advance(30_000);
    await asked;
    expect(operator.polls.map(({ at }) => at)).toEqual([0, 7000, 14_000, 21_000, 28_000]);
  });

  it('lets requests of one caller share one prompt, one poll and one lookup', async () => {
    operator.polled = [PENDING, 'granted'];
    const both = [ask([window(240)]), ask([window(24)])];
    await clock.advance(2 * SECOND_MS);
    expect(await Promise.all(both)).toEqual([[{ swapped: false }], [{ swapped: false }]]);
    expect(operator.prompts).toHaveLength(1);
    expect(operator.polls).toHaveLength(2);
    expect(operator.lookups.map(({ lookup }) => lookup)).toEqual([
      { operation: 'check', maxAgeHours: 240 },
    ]);
  });

  it('chooses the window when the token arrives, among the questions that still wait', async () => {
    operator.polled = [PENDING, 'granted'];
    const hungUp = new AbortController();
    const first = ask([window(240)], { signal: hungUp.signal });
    const second = ask([window(24)]);
    await clock.advance(SECOND_MS);
    hungUp.abort();
    await clock.advance(SECOND_MS);
    await first;
    expect(await second).toEqual([{ swapped: false }]);
    expect(operator.lookups.map(({ lookup }) => lookup)).toEqual([
      { operation: 'check', maxAgeHours: 24 },
    ]);
  });

  it('lets a date question that joins a pending check wait for it, and asks for the date after it', async () => {
    operator.polled = [PENDING, 'granted'];
    const check = ask([window(240)]);
    await settled();
    const date = ask([DATE]);
    await clock.advance(2 * SECOND_MS);
    expect(await check).toEqual([{ swapped: false }]);
    expect(await date).toEqual([{ latestSimChange: null }]);
    expect(operator.prompts.map(({ operation }) => operation)).toEqual(['check', 'retrieve-date']);
  });

  it('turns another caller away with CONSENT_PENDING, without a prompt of its own', async () => {
    operator.polled = [PENDING];
    const anna = ask([window(240)]);
    await settled();
    const [bert] = await after(0, ask([window(240)], { caller: 'bert' }));
    expect(failure(bert)).toEqual(ANOTHERS);
    await clock.advance(WAIT_MS);
    await anna;
    expect(operator.prompts).toHaveLength(1);
  });

  it('keeps a result that no request received for its caller, and for no other', async () => {
    operator.polled = [PENDING, 'granted'];
    operator.latencyMs = 100;
    lookups = route(2250);
    const [first] = await after(2250, ask([window(240)]));
    expect(failure(first)?.code).toBe('CONSENT_PENDING');
    await clock.advance(10 * SECOND_MS);
    expect(operator.lookups).toHaveLength(1);

    operator.polled = [PENDING];
    const bert = ask([window(240)], { caller: 'bert' });
    expect(await after(0, ask([window(240)]))).toEqual([{ swapped: false }]);
    await clock.advance(WAIT_MS);
    expect(failure((await bert)[0])?.code).toBe('CONSENT_PENDING');
    expect(operator.lookups).toHaveLength(1);
  });

  it('drops an unreceived result after CONSENT_RESULT_SECONDS', async () => {
    operator.latencyMs = 100;
    lookups = route(150);
    await after(150, ask([window(240)]));
    await clock.advance(60 * SECOND_MS + 500);
    operator.latencyMs = 0;
    await after(0, ask([window(240)]));
    expect(operator.prompts).toHaveLength(2);
  });

  it('gets an answer with one prompt even when patience is shorter than every exchange', async () => {
    operator.latencyMs = 100;
    lookups = route(1);
    let answer: Told | Error | undefined;
    let asks = 0;
    while (!(answer !== undefined && 'swapped' in answer) && asks < 10) {
      asks += 1;
      [answer] = await after(SECOND_MS, ask([window(240)]));
    }
    expect(answer).toEqual({ swapped: false });
    expect(operator.prompts).toHaveLength(1);
    expect(operator.lookups).toHaveLength(1);
  });

  it('keeps the facts of a number whose next consent is pending, as long as any that were heard', async () => {
    factCache = new MemoryFactCache(clock, () => ({ keepMs: 60_000, resultMs: 60_000 }));
    lookups = route();
    operator.polled = ['granted', PENDING, PENDING, 'granted'];
    const date = { text: 'yesterday', epochMs: clock.nowMs() - 24 * HOUR_MS };
    operator.looked = [
      { operation: 'retrieve-date', latestSimChange: date, sentAtMs: clock.nowMs() },
      {
        operation: 'check',
        maxAgeHours: 240 as MaxAgeHours,
        swapped: true,
        sentAtMs: clock.nowMs(),
      },
    ];
    const [dateFirst, windowFirst] = await after(WAIT_MS, ask([DATE, window(240)]));
    expect(dateFirst).toEqual({ latestSimChange: date });
    expect(failure(windowFirst)?.code).toBe('CONSENT_PENDING');

    await clock.advance(SECOND_MS);
    expect(await after(0, ask([DATE, window(240)]))).toEqual([
      { latestSimChange: date },
      { swapped: true },
    ]);
    expect(operator.prompts.map(({ operation }) => operation)).toEqual(['retrieve-date', 'check']);
  });

  it('counts patience once for a number, over all the consents that it takes', async () => {
    operator.polled = [PENDING, 'granted', PENDING];
    const asked = ask([DATE, window(240)]);
    await clock.advance(WAIT_MS);
    const [date, swapped] = await asked;
    expect(date).toEqual({ latestSimChange: null });
    expect(failure(swapped)?.code).toBe('CONSENT_PENDING');
  });

  const ENDS: readonly [string, Polled][] = [
    ['CONSENT_DENIED', { kind: 'failed', failure: { code: 'CONSENT_DENIED', reach: 'number' } }],
    ['CONSENT_EXPIRED', { kind: 'failed', failure: { code: 'CONSENT_EXPIRED', reach: 'number' } }],
    [
      'OPERATOR_REFUSED',
      { kind: 'failed', failure: { code: 'OPERATOR_REFUSED', reach: 'number' } },
    ],
  ];
  it.each(ENDS)('ends with %s when the poll says so', async (code, polled) => {
    operator.polled = [polled];
    const [answer] = await after(0, ask([window(240)]));
    expect(failure(answer)?.code).toBe(code);
  });

  it('remembers a denial for the number, which is pending for every other caller', async () => {
    operator.polled = [{ kind: 'failed', failure: { code: 'CONSENT_DENIED', reach: 'number' } }];
    await after(0, ask([window(240)]));
    await clock.advance(599 * SECOND_MS);
    const [anna] = await after(0, ask([window(240)]));
    expect(failure(anna)).toMatchObject({ code: 'CONSENT_DENIED', retryAfterSeconds: 1 });
    for (const other of [{ caller: 'bert' }, { purpose: 'marketing' }]) {
      const [answer] = await after(0, ask([window(240)], other));
      expect(failure(answer)).toEqual(ANOTHERS);
    }
    await clock.advance(SECOND_MS);
    await after(0, ask([window(240)], { caller: 'bert' }));
    expect(operator.prompts).toHaveLength(2);
  });

  it('prompts again after an expiry that was returned', async () => {
    operator.polled = [
      { kind: 'failed', failure: { code: 'CONSENT_EXPIRED', reach: 'number' } },
      'granted',
    ];
    const [first] = await after(0, ask([window(240)]));
    expect(failure(first)?.code).toBe('CONSENT_EXPIRED');
    expect(await after(0, ask([window(240)]))).toEqual([{ swapped: false }]);
    expect(operator.prompts).toHaveLength(2);
  });

  it('stops polling before expires_in, and tells the expiry once when its caller comes back', async () => {
    operator.polled = [PENDING];
    await after(WAIT_MS, ask([window(240)]));
    await clock.advance(120 * SECOND_MS);
    const [expired] = await after(0, ask([window(240)]));
    expect(failure(expired)?.code).toBe('CONSENT_EXPIRED');
    expect(operator.prompts).toHaveLength(1);
    operator.polled = ['granted'];
    expect(await after(0, ask([window(240)]))).toEqual([{ swapped: false }]);
    expect(operator.prompts).toHaveLength(2);
  });

  it('does not prompt again in doubt: pending, then expired once, then a new prompt', async () => {
    operator.acknowledgements = [{ kind: 'reply-lost' }];
    const [lost] = await after(0, ask([window(240)]));
    expect(failure(lost)).toMatchObject({ code: 'CONSENT_PENDING', retryAfterSeconds: 300 });
    await clock.advance(299 * SECOND_MS);
    const [stillLost] = await after(0, ask([window(240)]));
    expect(failure(stillLost)?.code).toBe('CONSENT_PENDING');
    await clock.advance(SECOND_MS);
    const [expired] = await after(0, ask([window(240)]));
    expect(failure(expired)?.code).toBe('CONSENT_EXPIRED');
    expect(operator.prompts).toHaveLength(1);
    expect(await after(0, ask([window(240)]))).toEqual([{ swapped: false }]);
    expect(operator.prompts).toHaveLength(2);
  });

  it('prompts again after a request that was refused without a prompt', async () => {
    operator.acknowledgements = [
      {
        kind: 'failed',
        failure: { code: 'OPERATOR_UNAVAILABLE', reach: 'number' },
        mayHavePrompted: false,
      },
    ];
    const [refused] = await after(0, ask([window(240)]));
    expect(failure(refused)?.code).toBe('OPERATOR_UNAVAILABLE');
    expect(await after(0, ask([window(240)]))).toEqual([{ swapped: false }]);
    expect(operator.prompts).toHaveLength(2);
  });

  it('lets a caller who hangs up go, and keeps what its consent brings', async () => {
    operator.latencyMs = 100;
    const hungUp = new AbortController();
    const asked = ask([window(240)], { signal: hungUp.signal });
    await clock.advance(150);
    hungUp.abort();
    await asked;
    await clock.advance(SECOND_MS);
    expect(operator.lookups).toHaveLength(1);
    expect(await after(0, ask([window(240)]))).toEqual([{ swapped: false }]);
    expect(operator.prompts).toHaveLength(1);
  });

  it('starts nothing for a caller who is gone already', async () => {
    const hungUp = new AbortController();
    hungUp.abort();
    await after(0, ask([window(240)], { signal: hungUp.signal }));
    expect(operator.prompts).toHaveLength(0);
  });

  it('refuses new consents when the store is full, and keeps the live ones', async () => {
    store = new Store(clock, 1);
    lookups = route();
    operator.polled = [PENDING];
    await after(WAIT_MS, ask([window(240)]));
    const other = '+447700900002' as PhoneNumber;
    const [refused] = await after(0, ask([window(240)], { number: other }));
    expect(failure(refused)).toMatchObject({ code: 'STATE_UNAVAILABLE', retryAfterSeconds: 60 });
    operator.polled = ['granted'];
    expect(await after(SECOND_MS, ask([window(240)]))).toEqual([{ swapped: false }]);
    expect(operator.prompts).toHaveLength(1);
  });

  it.each(['expired_token', 'invalid_grant'])(
    'comes to an end when %s arrives after the latest request has left',
    async () => {
      const date = { text: 'yesterday', epochMs: clock.nowMs() - 24 * HOUR_MS };
      operator.looked = [
        { operation: 'retrieve-date', latestSimChange: date, sentAtMs: clock.nowMs() },
      ];
      operator.polled = [PENDING, 'granted', PENDING, EXPIRED];
      boundReads(1000);
      const x = ask([DATE, window(24)]);
      await clock.advance(1500);
      const w = ask([DATE, window(24)]);
      await clock.advance(900);
      const hungUp = new AbortController();
      const l = ask([window(24)], { signal: hungUp.signal });
      await clock.advance(800);
      hungUp.abort();
      await clock.advance(2000);
      expect(failure((await x)[1])?.code).toBe('CONSENT_PENDING');
      expect(failure((await l)[0])?.code).toBe('CONSENT_PENDING');
      expect(failure((await w)[1])?.code).toBe('CONSENT_EXPIRED');
      expect(operator.prompts).toHaveLength(2);
    },
  );

  it('waits on close for the exchange that is under way, and stores what it brings', async () => {
    operator.latencyMs = 100;
    const hungUp = new AbortController();
    const asked = ask([window(240)], { signal: hungUp.signal });
    await clock.advance(150);
    hungUp.abort();
    await asked;
    let closed = false;
    const close = async () => {
      await lookups.close();
      closed = true;
    };
    const closing = close();
    await settled();
    expect(closed).toBe(false);
    await clock.advance(SECOND_MS);
    await closing;
    const anna = { caller: callerNamed('anna'), purpose: 'fraud-prevention' };
    expect((await factCache.recall(anna, NUMBER, clock.monotonicMs())).facts).toHaveLength(1);
  });
});
