import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/system/clock.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { Question } from '../../src/domain/question.ts';
import { OPEN_AUTHORIZER } from '../../src/lookups/lookupAuthorizer.ts';
import { KeptAnswers } from '../../src/lookups/keptAnswers.ts';
import type { FactCache } from '../../src/lookups/factCache.ts';
import type { LookupRequest, LookupRoute } from '../../src/lookups/lookupRoute.ts';
import { MemoryFactCache } from '../../src/lookups/memoryFactCache.ts';
import { RedisFactCache } from '../../src/lookups/redisFactCache.ts';
import { SharedLookups } from '../../src/lookups/sharedLookups.ts';
import { StateSeals } from '../../src/sharedState/stateSeals.ts';
import { inForm } from '../forms.ts';
import { TestClock } from '../testClock.ts';
import { ALICE, BOB } from '../values.ts';
import { DATE, executorOn, OFFER, requestAt, window } from './requests.ts';
import { ScriptedRoute, type MadeLookup } from './scriptedRoute.ts';
import { SlowRedis } from './slowRedis.ts';
import { LightAbortSignal } from '../../src/http/lightAbortSignal.ts';

/** A request, and what befalls it. */
interface Draft {
  readonly replica: number;
  readonly caller: string;
  readonly purpose: string;
  readonly number: PhoneNumber;
  readonly questions: readonly Question[];
  /** How long after the one before it. */
  readonly pauseMs: number;
  readonly patienceMs: number;
  readonly tokenMs: number;
  readonly lookupMs: number;
  readonly commandMs: number;
  readonly told: 'false' | 'true' | 'failure';
  /** What an administrator does to the replica's wall clock meanwhile. */
  readonly wallStepMs: number;
}

const question = fc.constantFrom(DATE, DATE, window(24), window(48), window(240), window(2400));

const short = fc.constantFrom(0, 1, 10, 100, 900);

const draft: fc.Arbitrary<Draft> = fc.record({
  replica: fc.nat(1),
  caller: fc.constantFrom('anna', 'anna', 'anna', 'bert'),
  purpose: fc.constantFrom('fraud-prevention', 'fraud-prevention', 'marketing'),
  number: fc.constantFrom(ALICE, ALICE, ALICE, BOB),
  questions: fc.uniqueArray(question, { minLength: 1, maxLength: 3 }),
  pauseMs: fc.constantFrom(0, 0, 0, 1, 10, 100, 1000, 2500),
  patienceMs: fc.constantFrom(5, 500, 5000, 5000, 5000),
  tokenMs: short,
  lookupMs: short,
  commandMs: fc.constantFrom(0, 0, 1, 100),
  told: fc.constantFrom('false', 'false', 'true', 'failure'),
  wallStepMs: fc.constantFrom(0, 0, 0, 600_000, -600_000),
});

/** The machine's own time, of which no two clocks show the same. */
function clockOf(time: TestClock, aheadMs: number, wallAheadMs: () => number): Clock {
  return {
    nowMs: () => time.nowMs() + wallAheadMs(),
    monotonicMs: () => time.monotonicMs() + aheadMs,
    sleep: (ms, signal) => time.sleep(ms, signal),
  };
}

/** Everything that is told to a request passes here. */
function watched(
  route: LookupRoute,
  onTold: (request: LookupRequest, number: PhoneNumber, sentAtMs: number) => void,
): LookupRoute {
  return {
    lookUp: async (lookup, session) => {
      const outcome = await route.lookUp(lookup, session);
      const facts = outcome.kind === 'facts' ? outcome.facts : [];
      for (const { sentAtMs } of facts) onTold(session.request, session.number, sentAtMs);
      return outcome;
    },
    consent: (...asked) => route.consent(...asked),
    close: () => route.close(),
  };
}

/** A lookup that left, by the machine's own time; its `sentAtMs` names it. */
interface Left {
  readonly atMs: number;
  readonly made: MadeLookup;
}

class World {
  readonly time = new TestClock();
  readonly redis = new SlowRedis(this.time);
  readonly left: Left[] = [];
  readonly problems: string[] = [];
  /** Facts that were told to requests for which they were not looked up. */
  toldAgain = 0;
  readonly #keepMs: number;
  readonly #replicas: readonly {
    readonly clock: Clock;
    readonly operator: ScriptedRoute;
    readonly route: LookupRoute;
  }[];
  readonly #wallAheadMs = [0, -600_000];

  constructor(keepSeconds: number, isShared: boolean) {
    this.#keepMs = keepSeconds * 1000;
    const settings = { keepMs: this.#keepMs, resultMs: 0 };
    const seals = new StateSeals([randomBytes(32)]);
    this.#replicas = [0, 7_000_000].map((aheadMs, index) => {
      const clock = clockOf(this.time, aheadMs, () => this.#wallAheadMs[index] ?? 0);
      const factCache = isShared
        ? new RedisFactCache(this.redis.sharedBy(clock), clock, { seals, keptFor: () => settings })
        : new MemoryFactCache(clock, () => settings);
      return this.#replica(clock, factCache);
    });
  }

  #replica(clock: Clock, factCache: FactCache) {
    const operator = new ScriptedRoute(clock);
    const parts = { factCache, keepMs: this.#keepMs, admission: OPEN_AUTHORIZER, offer: OFFER };
    const shared = new SharedLookups(operator, parts);
    const route = watched(new KeptAnswers(shared, parts), (request, number, sentAtMs) => {
      this.#judge(request, number, this.left[sentAtMs], clock);
    });
    return { clock, operator, route };
  }

  /** The promise: nothing is told that is older than the setting, or that another caller learned. */
  #judge(request: LookupRequest, number: PhoneNumber, left: Left | undefined, clock: Clock): void {
    if (left === undefined) {
      this.problems.push('a fact that no lookup told');
      return;
    }
    const cameInAtMs = request.cameInAtMs - (clock.monotonicMs() - this.time.monotonicMs());
    const { made, atMs } = left;
    if (atMs < cameInAtMs - this.#keepMs) {
      this.problems.push(`a fact ${cameInAtMs - atMs} ms older than its request`);
    }
    const isOwn =
      made.number === number &&
      made.request.caller.key === request.caller.key &&
      made.request.purpose === request.purpose;
    if (made.request.correlator !== request.correlator) this.toldAgain += 1;
    if (!isOwn) this.problems.push('what another caller learned');
  }

  async ask(one: Draft): Promise<void> {
    const replica = this.#replicas[one.replica];
    if (replica === undefined) throw new Error('There is no such replica.');
    const { clock, operator, route } = replica;
    this.#wallAheadMs[one.replica] = (this.#wallAheadMs[one.replica] ?? 0) + one.wallStepMs;
    Object.assign(operator, { tokenMs: one.tokenMs, lookupMs: one.lookupMs });
    this.redis.commandMs = one.commandMs;
    operator.tells = (made) => {
      this.left.push({ atMs: this.time.monotonicMs(), made });
      const sentAtMs = this.left.length - 1;
      if (one.told === 'failure') return { code: 'OPERATOR_UNAVAILABLE', reach: 'number' };
      return made.lookup.operation === 'check'
        ? { ...made.lookup, swapped: one.told === 'true', sentAtMs }
        : { ...made.lookup, latestSimChange: null, sentAtMs };
    };
    const over = new LightAbortSignal();
    const cameInAtMs = clock.monotonicMs();
    const { caller, purpose, patienceMs } = one;
    const limits = { signal: over, deadlineMs: cameInAtMs + patienceMs };
    const executor = executorOn(route, requestAt(clock, { caller, purpose, ...limits }));
    const overAt = this.time.sleep(patienceMs).then(() => over.abort());
    await executor.ask(one.number, one.questions);
    if (clock.monotonicMs() > cameInAtMs + patienceMs) {
      this.problems.push('a request that outlived its deadline');
    }
    for (const asked of one.questions) {
      const answer = executor.answerTo(one.number, asked);
      if (answer instanceof Error) this.problems.push(answer.message);
    }
    await overAt;
  }

  async run(drafts: readonly Draft[]): Promise<void> {
    const asked: Promise<void>[] = [];
    for (const one of drafts) {
      await this.time.advance(one.pauseMs);
      asked.push(this.ask(one));
    }
    await this.time.advance(20_000);
    await Promise.all(asked);
    await Promise.all(this.#replicas.map(({ route }) => route.close()));
  }
}

describe.each([
  ['memory', false],
  ['Redis', true],
])('kept and shared facts, in %s', (_where, isShared) => {
  it.each([0, 1, 3])(
    'are never older than KEEP_FACTS_SECONDS=%d, and never another caller’s',
    async (keepSeconds) => {
      let toldAgain = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(draft, { minLength: 2, maxLength: 12 }), async (drafts) => {
          const world = new World(keepSeconds, isShared);
          await world.run(drafts);
          expect(world.problems).toEqual([]);
          toldAgain += world.toldAgain;
        }),
        { numRuns: inForm({ short: 50, long: 200 }) },
      );
      expect(toldAgain).toBeGreaterThan(0);
    },
  );
});
