import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TimedFact, Fact } from '../../src/domain/fact.ts';
import type { CallerKey } from '../../src/domain/identity.ts';
import {
  MAX_FACTS_PER_NUMBER,
  type FactCache,
  type FactCacheSettings,
  MemoryFactCache,
  recalledFor,
} from '../../src/lookups/factCache.ts';
import { RedisFactCache, KEEP } from '../../src/lookups/redisFactCache.ts';
import { systemClock } from '../../src/system/clock.ts';
import type { Redis } from '../../src/sharedState/redis.ts';
import { StateSeals } from '../../src/sharedState/stateSeals.ts';
import { clientTo } from '../support/redisCommands.ts';
import { connectionTo, NO_REDIS, startRedis, type RedisServer } from '../support/redisServer.ts';
import { TestClock } from '../support/testClock.ts';
import { SlowRedis } from './slowRedis.ts';
import {
  ALICE,
  BOB,
  changed,
  checked,
  callerNamed,
  timed,
  purposeNamed,
} from '../support/values.ts';

const ANNA: CallerKey = { caller: callerNamed('anna'), purpose: purposeNamed('fraud-prevention') };
const BERT: CallerKey = { ...ANNA, caller: callerNamed('bert') };
const MINUTE: FactCacheSettings = { keepMs: 60_000, resultMs: 60_000 };

let redis: RedisServer | undefined;
const connections: Redis[] = [];

beforeAll(async () => {
  if (NO_REDIS === undefined) redis = await startRedis();
  else process.stderr.write(`The tests of RedisFactCache. ${NO_REDIS}\n`);
});

afterAll(async () => {
  for (const one of connections) one.close();
  await redis?.kill();
});

async function connect(): Promise<Redis> {
  const connection = connectionTo(redis?.url ?? '');
  connections.push(connection);
  await connection.open();
  return connection;
}

function onRedis(connection: Pick<Redis, 'run'>, clock = systemClock, settings = MINUTE) {
  const seals = new StateSeals([randomBytes(32)]);
  const kept = { seals, keptFor: () => settings };
  return () => new RedisFactCache(connection, clock, kept);
}

const nowMs = (): number => systemClock.monotonicMs();

const STORES: readonly [
  string,
  string | undefined,
  (s?: FactCacheSettings) => Promise<FactCache>,
][] = [
  [
    'MemoryFactCache',
    undefined,
    (settings = MINUTE) => Promise.resolve(new MemoryFactCache(systemClock, () => settings)),
  ],
  [
    'RedisFactCache',
    NO_REDIS,
    async (settings) => onRedis(await connect(), systemClock, settings)(),
  ],
];

/** A fact whose lookup left so long ago. */
function aged(fact: Fact, ageMs = 0): TimedFact {
  return timed(fact, nowMs() - ageMs);
}

const FALSE = checked(240, false);

/** The facts for a request that comes in now, or came in a while ago: `date`, or a window and its answer. */
async function heardBy(
  facts: FactCache,
  { callerKey = ANNA, number = ALICE, cameInMsAgo = 0 } = {},
): Promise<string[]> {
  const recalled = await facts.recall(callerKey, number, nowMs() - cameInMsAgo);
  return recalled.facts
    .map((fact) => (fact.operation === 'check' ? `${fact.maxAgeHours} ${fact.swapped}` : 'date'))
    .toSorted();
}

describe.each(STORES)('%s', (_name, whyNot, create) => {
  beforeEach((context) => {
    context.skip(whyNot !== undefined, whyNot);
  });

  it('returns the facts of one caller about one number as they were kept', async () => {
    const facts = await create();
    const kept = [aged(FALSE), { ...aged(changed(30)), isHeard: false }];
    for (const fact of kept) await facts.keep(ANNA, ALICE, fact);
    const recalled = await facts.recall(ANNA, ALICE, nowMs());
    const expected = kept.map(
      ({ leftAtMs: _left, repliedAtMs: _replied, ...fact }) =>
        expect.objectContaining(fact) as TimedFact,
    );
    expect(recalled.facts).toHaveLength(2);
    expect(recalled.facts).toEqual(expect.arrayContaining(expected));
  });

  it.each<[string, CallerKey, typeof ALICE]>([
    ['another caller', BERT, ALICE],
    [
      'the same caller with another purpose',
      { ...ANNA, purpose: purposeNamed('marketing') },
      ALICE,
    ],
    ['the same caller about another number', ANNA, BOB],
    // A caller's name may have the separator in it.
    [
      'a caller whose joined name is equal',
      { caller: callerNamed('anna fraud'), purpose: purposeNamed('x') },
      ALICE,
    ],
  ])('does not return them to %s', async (_whom, callerKey, number) => {
    const facts = await create();
    await facts.keep(ANNA, ALICE, { ...aged(FALSE), isHeard: false });
    expect(await heardBy(facts, { callerKey, number })).toEqual([]);
  });

  // KEEP_FACTS_SECONDS, CONSENT_RESULT_SECONDS, the fact's age, how long ago the request came in.
  it.each<[string, number, number, boolean, number, number, boolean]>([
    ['answers again', 60, 0, true, 58, 0, true],
    ['has run out', 60, 0, true, 60.001, 0, false],
    ['has run out, whenever it was kept', 60, 0, true, 400, 0, false],
    ['answers at 0 a request from before its lookup left', 0, 60, true, 1, 2, true],
    ['does not answer at 0 a later request', 0, 60, true, 1, 0, false],
    ['that was heard answers a request in time', 30, 60, true, 45, 20, true],
    ['that was heard does not answer a later request', 30, 60, true, 45, 10, false],
    ['that no request heard answers', 0, 60, false, 58, 0, true],
    ['that no request heard answers for the longer of both', 60, 10, false, 58, 0, true],
    ['that no request heard has run out', 0, 60, false, 60.001, 0, false],
  ])(
    'a fact %s (keep %d s, result %d s, heard %s, %d s old, request %d s old: %s)',
    async (_what, keep, result, isHeard, age, cameIn, isTold) => {
      const facts = await create({ keepMs: keep * 1000, resultMs: result * 1000 });
      await facts.keep(ANNA, ALICE, { ...aged(FALSE, age * 1000), isHeard });
      const heard = await heardBy(facts, { cameInMsAgo: cameIn * 1000 });
      expect(heard).toEqual(isTold ? ['240 false'] : []);
    },
  );

  it('is not kept longer by being kept again, and stays heard', async () => {
    const facts = await create({ keepMs: 0, resultMs: 400 });
    const fact = aged(FALSE);
    await facts.keep(ANNA, ALICE, fact);
    expect(await heardBy(facts, { cameInMsAgo: -10 })).toEqual([]);
    await facts.keep(ANNA, ALICE, { ...fact, isHeard: false });
    while ((await heardBy(facts)).length > 0) {
      const [told = fact] = (await facts.recall(ANNA, ALICE, nowMs())).facts;
      await facts.keep(ANNA, ALICE, { ...told, isHeard: false });
      expect(nowMs() - fact.leftAtMs).toBeLessThan(10_000);
    }
  });

  it('keeps the newest facts about a number', async () => {
    const facts = await create();
    const windows = Array.from({ length: MAX_FACTS_PER_NUMBER + 8 }, (_, i) => i + 1);
    for (const window of windows) {
      await facts.keep(ANNA, ALICE, aged(checked(window, false), 1000 - 10 * window));
    }
    const newest = windows.slice(-MAX_FACTS_PER_NUMBER).map((window) => `${window} false`);
    expect(await heardBy(facts)).toEqual(newest.toSorted());
  });
});

it('a fact of an operator that is no longer configured answers only where it is a swap, and no longer than when it was kept', () => {
  const keepMs = 60_000;
  const [swap, ...others] = [
    { ...timed(checked(240, true), 0), isHeard: true, keepMs },
    timed(FALSE, 0),
    timed(changed(9000), 0),
  ] as const;
  const recalled = recalledFor([swap, ...others], keepMs, () => undefined);
  expect(recalled).toEqual({ facts: [swap], unrequested: others });
  expect(recalledFor([swap], keepMs + 1, () => undefined).facts).toEqual([]);
});

it('MemoryFactCache is bounded in bytes, and uses only its monotonic clock', async () => {
  const clock = new TestClock();
  const facts = new MemoryFactCache(clock, () => MINUTE, 10_000);
  const keep = (caller: number) =>
    facts.keep(longCaller(caller), ALICE, timed(FALSE, clock.monotonicMs()));
  const kept = async (caller: number) =>
    (await facts.recall(longCaller(caller), ALICE, clock.monotonicMs())).facts.length;
  for (let caller = 0; caller < 100; caller += 1) await keep(caller);
  expect(facts.bytes).toBeGreaterThan(5_000);
  expect(facts.bytes).toBeLessThanOrEqual(10_000);
  // Earlier facts stay.
  expect([await kept(0), await kept(99)]).toEqual([1, 0]);

  clock.setWall(clock.nowMs() - 600_000);
  await clock.advance(60_001);
  await keep(99);
  expect([await kept(0), await kept(99)]).toEqual([0, 1]);
  expect(facts.bytes).toBeLessThan(1_000);
});

function longCaller(index: number): CallerKey {
  return { ...ANNA, caller: callerNamed(`${index} ${'x'.repeat(16_000)}`) };
}

describe('RedisFactCache', () => {
  let attacker: ReturnType<typeof clientTo>;
  let facts: FactCache;
  beforeEach(async (context) => {
    context.skip(NO_REDIS !== undefined, NO_REDIS);
    attacker = clientTo(redis?.port ?? 0);
    await attacker.flushall();
    facts = onRedis(await connect())();
  });
  afterEach(() => {
    attacker?.disconnect();
  });

  /** Every value of the one key. */
  async function stolen(): Promise<{ key: string; fields: Record<string, string> }> {
    const [key = ''] = await attacker.keys('*');
    return { key, fields: await attacker.hgetall(key) };
  }

  // By how much the clock of Redis is set after its last reply.
  it.each([0, -60_000, 60_000])(
    'dates a fact earlier and its reply later than they were, never the reverse (clock set by %d ms)',
    async (setByMs) => {
      const clock = new TestClock();
      const slow = new SlowRedis(clock);
      const replica = onRedis(slow.sharedBy(clock), clock);
      const keeping = replica();
      const fact = timed(FALSE, clock.monotonicMs());
      slow.commandMs = 100;
      const done = keeping.recall(ANNA, ALICE, 0).then(async () => {
        slow.aheadMs += setByMs;
        await keeping.keep(ANNA, ALICE, { ...fact, repliedAtMs: clock.monotonicMs() });
        return clock.monotonicMs();
      });
      await clock.advance(2000);
      const repliedAtMs = (await done) - (setByMs === 0 ? 200 : 400);
      slow.commandMs = 0;
      const recalling = replica().recall(ANNA, ALICE, 0);
      await clock.advance(0);
      const [found] = (await recalling).facts;
      expect(found?.leftAtMs).toBe(fact.leftAtMs - 100);
      expect(found?.repliedAtMs).toBe(repliedAtMs + 100);
    },
  );

  it('dates no reply later than now, although the clock of Redis is known only roughly', async () => {
    const clock = new TestClock();
    const slow = new SlowRedis(clock);
    const slowFacts = onRedis(slow.sharedBy(clock), clock)();
    slow.commandMs = 100;
    const recalled = slowFacts.recall(ANNA, ALICE, 0);
    await clock.advance(1000);
    await recalled;
    slow.commandMs = 0;
    // A check that leaves from now on must count beside this date, or it is made again and again.
    await slowFacts.keep(ANNA, ALICE, timed(changed(30), clock.monotonicMs()));
    const [found] = (await slowFacts.recall(ANNA, ALICE, 0)).facts;
    expect(found?.repliedAtMs).toBe(clock.monotonicMs());
  });

  it('does not return a `false` whose life was prolonged without STATE_KEY', async () => {
    facts = onRedis(await connect(), systemClock, { keepMs: 300, resultMs: 0 })();
    await facts.keep(ANNA, ALICE, aged(FALSE));
    const { key, fields } = await stolen();
    while ((await heardBy(facts)).length > 0) await systemClock.sleep(5);
    for (const [name, value] of Object.entries(fields)) {
      await attacker.hset(key, name, value.replace(/^\d+/, '99999999999999'));
    }
    await attacker.persist(key);
    expect(await heardBy(facts)).toEqual([]);
  });

  it.each<[string, (value: string, other: string) => string]>([
    ['no seal', () => '99999999999999'],
    ['no text', () => ''],
    ['no end', (value) => value.replace(/^\d+/, 'never')],
    [
      'one character changed',
      (value) => value.replace(/.(?=.{8}$)/, (c) => (c === 'A' ? 'B' : 'A')),
    ],
    ["another number's answer", (_value, other) => other],
  ])('ignores a value with %s, and still keeps facts', async (_what, tamper) => {
    await facts.keep(ANNA, ALICE, aged(FALSE));
    const { key, fields } = await stolen();
    await facts.keep(ANNA, BOB, aged(FALSE));
    const bobs = (await attacker.keys('*')).find((one) => one !== key) ?? '';
    const [other = ''] = Object.values(await attacker.hgetall(bobs));
    for (const [name, value] of Object.entries(fields)) {
      await attacker.hset(key, name, tamper(value, other));
    }
    expect(await heardBy(facts)).toEqual([]);
    await facts.keep(ANNA, ALICE, aged(changed(30)));
    expect(await heardBy(facts)).toEqual(['date']);
  });

  it('does not prolong a fact by a command that reaches Redis late', async () => {
    const connection = await connect();
    const late: Pick<Redis, 'run'> = {
      run: async (...command) => {
        if (command[0] === KEEP) await systemClock.sleep(300);
        return connection.run(...command);
      },
    };
    facts = onRedis(late, systemClock, { keepMs: 200, resultMs: 0 })();
    await facts.keep(ANNA, ALICE, aged(FALSE));
    expect(await heardBy(facts, { cameInMsAgo: 1000 })).toEqual([]);
  });

  it('shows no number, caller or answer to a reader of Redis, and every fact expires', async () => {
    await facts.keep(ANNA, ALICE, aged(FALSE));
    const { key, fields } = await stolen();
    const text = `${key} ${JSON.stringify(fields)}`;
    for (const secret of ['447700900001', 'anna', 'fraud-prevention', 'swapped', 'check']) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(secret).toString('base64').replace(/=+$/, ''));
    }
    const ttlMs = await attacker.pttl(key);
    expect(ttlMs).toBeGreaterThan(50_000);
    expect(ttlMs).toBeLessThanOrEqual(60_001);
  });

  it('removes facts that have run out', async () => {
    await facts.keep(ANNA, ALICE, aged(checked(24, false), 59_900));
    while ((await heardBy(facts)).length > 0) await systemClock.sleep(5);
    await systemClock.sleep(2);
    await facts.keep(ANNA, ALICE, aged(FALSE));
    expect(Object.keys((await stolen()).fields)).toHaveLength(1);
  });

  it('does not keep a fact that finds no room, and fails no request for it', async () => {
    await attacker.config('SET', 'maxmemory', '1');
    await facts.keep(ANNA, ALICE, aged(FALSE));
    expect(await heardBy(facts)).toEqual([]);
    await attacker.config('SET', 'maxmemory', '0');
  });
});
