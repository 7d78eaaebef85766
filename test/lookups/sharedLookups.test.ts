import { beforeEach, describe, expect, it } from 'vitest';
import type { Fact } from '../../src/domain/fact.ts';
import type { CallerKey } from '../../src/domain/identity.ts';
import type { Lookup, Question } from '../../src/domain/question.ts';
import type { LookupFailure } from '../../src/domain/errors.ts';
import type { CachedAnswer } from '../../src/lookups/lookupAuthorizer.ts';
import { KeptAnswers } from '../../src/lookups/keptAnswers.ts';
import { type FactCache, MemoryFactCache } from '../../src/lookups/factCache.ts';
import { isWorthWaitingFor } from '../../src/lookups/planner.ts';
import { SharedLookups } from '../../src/lookups/sharedLookups.ts';
import {
  lookupFailed,
  DEADLINE_EXCEEDED,
  timed,
  type DirectRoute,
  type LookupOutcome,
  type LookupRequest,
  type NumberOfRequest,
} from '../../src/lookups/lookupRoute.ts';
import { SharedStateLost } from '../../src/sharedState/redis.ts';
import type { Told } from '../support/askedFields.ts';
import { settled, TestClock } from '../support/testClock.ts';
import {
  ALICE,
  BOB,
  checked,
  hours,
  callerNamed,
  OPEN_AUTHORIZER,
  purposeNamed,
} from '../support/values.ts';
import { answersOf, askAll, DATE, executorOn, OFFER, requestAt, window } from './requests.ts';
import { LightAbortSignal } from '../../src/system/urgency.ts';

const ANNA: CallerKey = { caller: callerNamed('anna'), purpose: purposeNamed('fraud-prevention') };
function check(maxAgeHours: number): Lookup {
  return { operation: 'check', maxAgeHours: hours(maxAgeHours) };
}

interface Asking {
  readonly callerKey?: CallerKey;
  readonly number?: typeof ALICE;
  readonly signal?: LightAbortSignal;
}

let clock: TestClock;
let operator: ScriptedRoute;
let heard: CachedAnswer[];
let refusal: LookupFailure | undefined;
let route: KeptAnswers;

beforeEach(() => {
  clock = new TestClock();
  operator = new ScriptedRoute();
  heard = [];
  refusal = undefined;
  route = routeWith(0);
});

/** The route of the 2-legged flow, with KEEP_FACTS_SECONDS. */
function routeWith(keepSeconds: number, factCache?: FactCache): KeptAnswers {
  const settings = { keepMs: keepSeconds * 1000, resultMs: 0 };
  const parts = {
    factCache: factCache ?? new MemoryFactCache(clock, () => settings),
    keepMs: settings.keepMs,
    admission: {
      ...OPEN_AUTHORIZER,
      delivered: (one: CachedAnswer) => {
        heard.push(one);
        return refusal === undefined ? undefined : Promise.resolve(refusal);
      },
    },
    offer: OFFER,
  };
  return new KeptAnswers(new SharedLookups(operator, parts), parts);
}

/** One GraphQL request. */
async function ask(
  questions: readonly Question[],
  { callerKey = ANNA, number = ALICE, signal = new LightAbortSignal() }: Asking = {},
): Promise<(Told | Error)[]> {
  const executor = executorOn(route, { ...requestAt(clock, { signal }), ...callerKey });
  await askAll(executor, number, questions);
  return answersOf(executor, number, questions);
}

async function after<T>(ms: number, asked: Promise<T>): Promise<T> {
  await clock.advance(ms);
  return asked;
}

/** A lookup that reached the operator. */
interface MadeLookup {
  readonly lookup: Lookup;
  readonly number: typeof ALICE;
  readonly request: LookupRequest;
  readonly leftAtMs: number;
}

/** Makes lookups as the direct route does: the token and the lookup each take some time. */
class ScriptedRoute implements DirectRoute {
  /** All that began, whether they left or not. */
  readonly begun: Lookup[] = [];
  readonly left: MadeLookup[] = [];
  tokenMs = 10;
  lookupMs = 10;
  /** The result of each lookup; the line never swapped where absent. */
  result: (made: MadeLookup) => Fact | LookupFailure = neverSwapped;
  async lookUp(lookup: Lookup, { number, request }: NumberOfRequest): Promise<LookupOutcome> {
    this.begun.push(lookup);
    request.onBegun?.();
    const failed = (failure: LookupFailure) => lookupFailed(lookup, failure);
    try {
      await clock.sleep(this.tokenMs, request.signal.asAbortSignal());
      const leftAtMs = clock.monotonicMs();
      request.onLeaving?.(leftAtMs);
      const made = { lookup, number, request, leftAtMs };
      this.left.push(made);
      const result = this.result(made);
      await clock.sleep(this.lookupMs, request.signal.asAbortSignal());
      return 'code' in result
        ? failed(result)
        : { kind: 'facts', facts: timed([result], leftAtMs, true, 'operator', clock) };
    } catch {
      return failed(DEADLINE_EXCEEDED);
    }
  }
}

function neverSwapped({ lookup, leftAtMs }: MadeLookup): Fact {
  return lookup.operation === 'check'
    ? { ...lookup, swapped: false, sentAtMs: leftAtMs }
    : { ...lookup, latestSimChange: null, sentAtMs: leftAtMs };
}

const FALSE: Told = { swapped: false };

/** More than a hundred hours. */
function swappedLongAgo({ lookup }: MadeLookup): Fact {
  if (lookup.operation !== 'check') throw new Error('No test here asks for that date.');
  return checked(lookup.maxAgeHours, lookup.maxAgeHours > 100);
}

describe('requests at the same time', () => {
  const OTHERS: readonly [string, Asking][] = [
    ['another caller', { callerKey: { ...ANNA, caller: callerNamed('bert') } }],
    [
      'the same caller with another purpose',
      { callerKey: { ...ANNA, purpose: purposeNamed('marketing') } },
    ],
    ['the same caller about another number', { number: BOB }],
  ];
  it.each(OTHERS)('share nothing with %s', async (_whom, other) => {
    route = routeWith(60);
    const asked = Promise.all([ask([window(240)]), ask([window(240)], other)]);
    expect(await after(20, asked)).toEqual([[FALSE], [FALSE]]);
    expect(operator.begun).toHaveLength(2);
  });

  // Under way, wanted, whether the second waits for the first.
  const WORTH: readonly [Lookup, Lookup, boolean][] = [
    [check(240), check(240), true],
    [check(240), check(24), true],
    [check(24), check(240), false],
    [{ operation: 'retrieve-date' }, { operation: 'retrieve-date' }, true],
    [{ operation: 'retrieve-date' }, check(24), true],
    [check(240), { operation: 'retrieve-date' }, false],
  ];
  it.each(WORTH)('%j under way, %j wanted: waits: %s', (underWay, wanted, isWorth) => {
    expect(isWorthWaitingFor(underWay, wanted)).toBe(isWorth);
  });

  it('are answered by a larger window that was false, and look up their own where it was true', async () => {
    const both = Promise.all([ask([window(240)]), ask([window(24)])]);
    expect(await after(20, both)).toEqual([[FALSE], [FALSE]]);
    expect(operator.begun).toEqual([check(240)]);

    operator.result = swappedLongAgo;
    const swapped = Promise.all([ask([window(240)]), ask([window(24)])]);
    expect(await after(40, swapped)).toEqual([[{ swapped: true }], [FALSE]]);
    expect(operator.begun).toEqual([check(240), check(240), check(24)]);
  });

  it('share a failure of the same question, and look up their own where it does not apply', async () => {
    operator.result = () => ({ code: 'PERIOD_NOT_SUPPORTED', reach: 'question' });
    const asked = Promise.all([ask([window(240)]), ask([window(240)]), ask([window(24)])]);
    const [one, two, three] = await after(40, asked);
    expect(one).toEqual([{ failure: { code: 'PERIOD_NOT_SUPPORTED', reach: 'question' } }]);
    expect(two).toEqual(one);
    expect(three).toEqual(one);
    expect(operator.begun).toEqual([check(240), check(24)]);
  });

  it('share a defect', async () => {
    operator.lookUp = () => Promise.reject(new Error('a defect'));
    const asked = Promise.all([ask([window(240)]), ask([window(240)])]);
    expect(await after(20, asked)).toEqual([[new Error('a defect')], [new Error('a defect')]]);
  });
});

describe('a lookup that has left', () => {
  it('is joined by a request from before, which waited for something else', async () => {
    operator.tokenMs = 0;
    operator.lookupMs = 30;
    const both = ask([DATE, window(240)]);
    await clock.advance(20);
    const late = ask([window(48)]);
    // The date was withheld; the window of 48 hours answers none that is larger.
    await clock.advance(40);
    expect(await both).toEqual([{ latestSimChange: null }, FALSE]);
    expect(await late).toEqual([FALSE]);
    expect(operator.left.map(({ lookup }) => lookup)).toEqual([
      { operation: 'retrieve-date' },
      check(48),
      check(240),
    ]);
  });

  it('is joined by a request within KEEP_FACTS_SECONDS after it', async () => {
    route = routeWith(1);
    operator.lookupMs = 5000;
    const first = ask([window(240)]);
    await clock.advance(10 + 1000);
    const inTime = ask([window(240)]);
    await clock.advance(1);
    const late = ask([window(240)]);
    await clock.advance(6000);
    expect([await first, await inTime, await late]).toEqual([[FALSE], [FALSE], [FALSE]]);
    expect(operator.left.map(({ leftAtMs }) => leftAtMs)).toEqual([1010, 2021]);
  });
});

describe('a shared lookup', () => {
  it('continues without the request that began it, and ends with its last waiter', async () => {
    const [first, second] = [new LightAbortSignal(), new LightAbortSignal()];
    const asked = [ask([window(240)], { signal: first }), ask([window(240)], { signal: second })];
    await clock.advance(5);
    first.abort();
    expect(await asked[0]).toEqual([{ failure: { code: 'OPERATOR_TIMEOUT', reach: 'number' } }]);
    await clock.advance(15);
    expect(await asked[1]).toEqual([FALSE]);
    expect(operator.left[0]?.request.signal.aborted).toBe(false);
  });

  it('has the latest deadline of its waiters, and the abort reason of the last one', async () => {
    const [first, second] = [new LightAbortSignal(), new LightAbortSignal()];
    const asked = [ask([window(240)], { signal: first })];
    await clock.advance(5);
    asked.push(ask([window(24)], { signal: second }));
    await clock.advance(5);
    const { request } = operator.left[0] ?? {};
    expect(request?.deadlineMs).toBe(1000 + 5 + 10_000);
    second.abort(new Error('the second'));
    expect(request?.signal.aborted).toBe(false);
    first.abort(new Error('the last'));
    expect(request?.signal.reason).toEqual(new Error('the last'));
    await clock.advance(20);
    await Promise.all(asked);
  });

  it('that every request has left is not joined', async () => {
    const hungUp = new LightAbortSignal();
    const first = ask([window(240)], { signal: hungUp });
    await settled();
    hungUp.abort();
    const second = ask([window(240)]);
    await clock.advance(20);
    await first;
    expect(await second).toEqual([FALSE]);
    expect(operator.begun).toHaveLength(2);
  });

  it('does not begin for a request that is over', async () => {
    const signal = new LightAbortSignal();
    signal.abort();
    // The operator is not to blame.
    expect(await ask([window(240)], { signal })).toMatchObject([
      { failure: { code: 'UNAVAILABLE', retryAfterSeconds: 1 } },
    ]);
    expect(operator.begun).toEqual([]);
  });

  it('is audited for each request that joined it, before it is returned', async () => {
    const asked = Promise.all([ask([window(240)]), ask([window(24)])]);
    await after(20, asked);
    expect(heard).toMatchObject([
      { how: 'shared', lookup: check(240), number: ALICE, request: ANNA },
    ]);
    expect(heard[0]?.request.correlator).not.toBe(operator.left[0]?.request.correlator);

    refusal = { code: 'AUDIT_UNAVAILABLE', reach: 'number' };
    const unheard = Promise.all([ask([window(240)]), ask([window(240)])]);
    expect(await after(20, unheard)).toEqual([[FALSE], [{ failure: refusal }]]);
  });

  it('that begins just after a request has left has no audit line of that request', async () => {
    let shared: LookupRequest | undefined;
    const { promise, resolve } = Promise.withResolvers<LookupOutcome>();
    operator.lookUp = (_, { request }) => {
      shared = request;
      return promise;
    };
    const hungUp = new LightAbortSignal();
    const asked = [ask([window(240)]), ask([window(240)], { signal: hungUp })];
    await settled();
    hungUp.abort();
    shared?.onBegun?.();
    await asked[1];
    expect(heard).toEqual([]);
    resolve(lookupFailed(check(240), DEADLINE_EXCEEDED));
    await asked[0];
  });

  it.each([
    ['number', 1],
    ['question', 0],
  ] as const)('whose failure is for the %s has %d audit lines', async (reach, lines) => {
    operator.result = () => ({ code: 'NUMBER_NOT_SERVED', reach });
    await after(20, Promise.all([ask([window(240)]), ask([window(240)])]));
    expect(heard).toHaveLength(lines);
  });
});

describe('a kept answer', () => {
  beforeEach(() => {
    route = routeWith(60);
  });

  it('is returned without a lookup for KEEP_FACTS_SECONDS after its lookup left', async () => {
    await after(20, ask([window(240)]));
    await clock.advance(59_990);
    expect(await ask([window(240)])).toEqual([FALSE]);
    expect(await ask([window(24)])).toEqual([FALSE]);
    expect(operator.begun).toHaveLength(1);
    await clock.advance(1);
    expect(await after(20, ask([window(240)]))).toEqual([FALSE]);
    expect(operator.begun).toHaveLength(2);
  });

  it('is audited for each request, before it is returned', async () => {
    await after(20, ask([window(240)]));
    await ask([window(24)]);
    expect(heard).toMatchObject([
      { how: 'kept', lookup: check(240), number: ALICE, request: ANNA },
    ]);
    refusal = { code: 'AUDIT_UNAVAILABLE', reach: 'number' };
    expect(await ask([window(24)])).toEqual([{ failure: refusal }]);
    expect(operator.begun).toHaveLength(1);
  });

  it('is neither returned nor audited where it answers none of the questions', async () => {
    await after(20, ask([window(24)]));
    expect(await after(20, ask([window(240)]))).toEqual([FALSE]);
    expect(operator.begun).toEqual([check(24), check(240)]);
    expect(heard).toEqual([]);
  });

  it('leaves other questions to be looked up', async () => {
    await after(20, ask([window(240)]));
    expect(await after(20, ask([DATE, window(24)]))).toEqual([{ latestSimChange: null }, FALSE]);
    expect(operator.begun).toEqual([check(240), { operation: 'retrieve-date' }]);
  });
});

describe('a store of facts', () => {
  const LOST: FactCache = {
    keep: () => Promise.reject(new SharedStateLost()),
    recall: () => Promise.reject(new SharedStateLost()),
  };

  it('that is lost costs a lookup, and no answer', async () => {
    route = routeWith(60, LOST);
    for (const _ of [1, 2]) expect(await after(20, ask([window(240)]))).toEqual([FALSE]);
    expect(operator.begun).toHaveLength(2);
  });

  it('that is silent does not hold up a request that is over', async () => {
    route = routeWith(60, { ...LOST, recall: () => new Promise(() => undefined) });
    const hungUp = new LightAbortSignal();
    const asked = ask([window(240)], { signal: hungUp });
    await settled();
    hungUp.abort();
    expect(await asked).toMatchObject([{ failure: { code: 'UNAVAILABLE' } }]);
    expect(operator.begun).toEqual([]);
  });

  it('that is slow to keep lets no request join a lookup whose facts it already has', async () => {
    route = routeWith(60, {
      ...LOST,
      keep: () => clock.sleep(1000),
      recall: () => Promise.resolve({ facts: [], unrequested: [], recalledAtMs: 0 }),
    });
    operator.result = swappedLongAgo;
    const asked = Promise.all([ask([window(240)]), ask([window(24)])]);
    expect(await after(40, asked)).toEqual([[{ swapped: true }], [FALSE]]);
    expect(operator.begun).toEqual([check(240), check(24)]);
    await clock.advance(1000);
  });

  it('that is slow to keep leaves no gap between sharing and keeping, and is awaited on close', async () => {
    const kept = Promise.withResolvers<undefined>();
    const slow = new MemoryFactCache(clock, () => ({ keepMs: 60_000, resultMs: 0 }));
    route = routeWith(60, {
      keep: (...fact) => kept.promise.then(() => slow.keep(...fact)),
      recall: (...asked) => slow.recall(...asked),
    });
    await after(20, ask([window(240)]));
    expect(await ask([window(240)])).toEqual([FALSE]);
    let isClosed = false;
    const closing = route.close().then(() => (isClosed = true));
    await settled();
    expect(isClosed).toBe(false);
    kept.resolve(undefined);
    await closing;
    expect(await ask([window(240)])).toEqual([FALSE]);
    expect(operator.begun).toHaveLength(1);
  });
});
