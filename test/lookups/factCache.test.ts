import type { TimedFact, Fact } from '../../src/domain/fact.ts';
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CallerKey } from '../../src/domain/identity.ts';
import {
  MAX_FACTS_PER_NUMBER,
  type FactCache,
  type FactCacheSettings,
  MemoryFactCache,
} from '../../src/lookups/factCache.ts';
import { RedisFactCache, KEEP } from '../../src/lookups/redisFactCache.ts';
import { systemClock } from '../../src/system/clock.ts';
import { SharedStateLost, type Redis } from '../../src/sharedState/redis.ts';
import { StateSeals } from '../../src/sharedState/stateSeals.ts';
import { clientTo, command as sendCommand } from '../redisCommands.ts';
import { connectionTo, NO_REDIS, startRedis, type RedisServer } from '../redisServer.ts';
import { TestClock } from '../testClock.ts';
import { SlowRedis } from './slowRedis.ts';
import { ALICE, BOB, changed, checked, callerNamed, timed } from '../values.ts';

const ANNA: CallerKey = { caller: callerNamed('anna'), purpose: 'fraud-prevention' };
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

async function connect(url = redis?.url ?? ''): Promise<Redis> {
  const connection = connectionTo(url);
  connections.push(connection);
  await connection.open();
  return connection;
}

/** A process that keeps facts, with a monotonic clock of its own. */
interface Replica {
  readonly facts: FactCache;
  readonly monotonicMs: () => number;
}

/** Replicas whose monotonic clocks have nothing in common, as on several machines. */
function inRedis(connection: Redis, settings = MINUTE, stateKey = randomBytes(32)) {
  return (bootedMsAgo = 0): Replica => {
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + bootedMsAgo };
    const facts = new RedisFactCache(connection, clock, {
      seals: new StateSeals([stateKey]),
      keptFor: () => settings,
    });
    return { facts, monotonicMs: clock.monotonicMs };
  };
}

function inMemory(settings = MINUTE): Replica {
  const facts = new MemoryFactCache(systemClock, () => settings);
  return { facts, monotonicMs: () => systemClock.monotonicMs() };
}

const STORES: readonly [string, string | undefined, (s?: FactCacheSettings) => Promise<Replica>][] =
  [
    ['MemoryFactCache', undefined, (settings) => Promise.resolve(inMemory(settings))],
    ['RedisFactCache', NO_REDIS, async (settings) => inRedis(await connect(), settings)()],
  ];

/** A fact whose lookup left so long ago. */
function aged(fact: Fact, ageMs: number, { monotonicMs }: Replica): TimedFact {
  return timed(fact, monotonicMs() - ageMs);
}

function timesAt(monotonicMs: number): Pick<TimedFact, 'leftAtMs' | 'repliedAtMs'> {
  return { leftAtMs: monotonicMs, repliedAtMs: monotonicMs };
}

/** What a request hears that comes in now, or came in a while ago. */
async function heardBy(
  callerKey: CallerKey,
  replica: Replica,
  { cameInMsAgo = 0, number = ALICE } = {},
) {
  const cameInAtMs = replica.monotonicMs() - cameInMsAgo;
  const { facts } = await replica.facts.recall(callerKey, number, cameInAtMs);
  return facts.map(untimed);
}

function untimed({
  toldBy: _toldBy,
  leftAtMs: _left,
  repliedAtMs: _replied,
  replyId: _id,
  isHeard: _isHeard,
  ...fact
}: TimedFact) {
  return fact;
}

describe.each(STORES)('%s', (_name, whyNot, create) => {
  beforeEach((context) => {
    context.skip(whyNot !== undefined, whyNot);
  });

  it('keeps what one caller learned of one number', async () => {
    const replica = await create();
    const { facts } = replica;
    await facts.keep(ANNA, ALICE, aged(checked(240, false), 0, replica));
    await facts.keep(ANNA, ALICE, { ...aged(changed(30), 0, replica), isHeard: false });
    const heard = await heardBy(ANNA, replica);
    expect(heard).toHaveLength(2);
    expect(heard).toEqual(expect.arrayContaining([checked(240, false), changed(30)].map(untimed)));
  });

  const OTHERS: readonly [string, CallerKey, typeof ALICE][] = [
    ['another caller', BERT, ALICE],
    ['the same caller with another purpose', { ...ANNA, purpose: 'marketing' }, ALICE],
    ['the same caller about another number', ANNA, BOB],
    // A caller's name may hold whatever joins its parts.
    [
      'a caller whose name runs into the purpose',
      { caller: callerNamed('anna fraud'), purpose: 'x' },
      ALICE,
    ],
  ];
  it.each(OTHERS)('tells nothing of it to %s', async (_whom, callerKey, number) => {
    const replica = await create();
    await replica.facts.keep(ANNA, ALICE, {
      ...aged(checked(240, false), 0, replica),
      isHeard: false,
    });
    expect(await heardBy(callerKey, replica, { number })).toEqual([]);
  });

  // KEEP_FACTS_SECONDS, CONSENT_RESULT_SECONDS, the fact's age, how long ago the request came in.
  const AGES: readonly [string, number, number, boolean, number, number, boolean][] = [
    ['answers again', 60, 0, true, 58, 0, true],
    ['is over', 60, 0, true, 60.001, 0, false],
    ['is over whenever it was kept', 60, 0, true, 400, 0, false],
    ['answers at 0 what came in before its lookup left', 0, 60, true, 1, 2, true],
    ['answers at 0 nothing that came in after', 0, 60, true, 1, 0, false],
    [
      'answers although it was heard only where the request is no older',
      30,
      60,
      true,
      45,
      20,
      true,
    ],
    ['answers no request that came in later than that', 30, 60, true, 45, 10, false],
    ['that no request heard answers', 0, 60, false, 58, 0, true],
    ['that no request heard answers for the longer of both', 60, 10, false, 58, 0, true],
    ['that no request heard is over', 0, 60, false, 60.001, 0, false],
  ];
  it.each(AGES)(
    'a fact %s (keep %d s, result %d s, heard %s, %d s old, request %d s old: %s)',
    async (_what, keep, result, isHeard, age, cameIn, isTold) => {
      const replica = await create({ keepMs: keep * 1000, resultMs: result * 1000 });
      const fact = aged(checked(240, false), age * 1000, replica);
      await replica.facts.keep(ANNA, ALICE, { ...fact, isHeard });
      const heard = await heardBy(ANNA, replica, { cameInMsAgo: cameIn * 1000 });
      expect(heard).toEqual(isTold ? [untimed(checked(240, false))] : []);
    },
  );

  it('is not kept longer by being kept again, and the last word says whether it was heard', async () => {
    const replica = await create({ keepMs: 0, resultMs: 400 });
    const { facts } = replica;
    const fact = aged(checked(240, false), 0, replica);
    await facts.keep(ANNA, ALICE, fact);
    expect(await heardBy(ANNA, replica, { cameInMsAgo: -10 })).toEqual([]);
    await facts.keep(ANNA, ALICE, { ...fact, isHeard: false });
    while ((await heardBy(ANNA, replica)).length > 0) {
      const recalled = await facts.recall(ANNA, ALICE, replica.monotonicMs());
      const [told = fact] = recalled.facts;
      await facts.keep(ANNA, ALICE, { ...told, isHeard: false });
      expect(replica.monotonicMs() - fact.leftAtMs).toBeLessThan(10_000);
    }
    expect(replica.monotonicMs() - fact.leftAtMs).toBeLessThan(10_000);
  });

  it('keeps the newest few about a number', async () => {
    const replica = await create();
    const windows = Array.from({ length: MAX_FACTS_PER_NUMBER + 8 }, (_, i) => i + 1);
    for (const window of windows) {
      const fact = aged(checked(window, false), 1000 - 10 * window, replica);
      await replica.facts.keep(ANNA, ALICE, fact);
    }
    const heard = await heardBy(ANNA, replica);
    const kept = heard.map((fact) => (fact.operation === 'check' ? fact.maxAgeHours : 0));
    expect(kept.toSorted((a, b) => a - b)).toEqual(windows.slice(-MAX_FACTS_PER_NUMBER));
  });
});

function longCaller(index: number): CallerKey {
  return { ...ANNA, caller: callerNamed(`${index} ${'x'.repeat(16_000)}`) };
}

describe('MemoryFactCache', () => {
  it('holds no more bytes than it may, and goes only by its monotonic clock', async () => {
    const clock = new TestClock();
    const facts = new MemoryFactCache(clock, () => MINUTE, 10_000);
    const fact = (): TimedFact => timed(checked(240, false), clock.monotonicMs());
    for (let index = 0; index < 100; index += 1) await facts.keep(longCaller(index), ALICE, fact());
    expect(facts.bytes).toBeGreaterThan(5_000);
    expect(facts.bytes).toBeLessThanOrEqual(10_000);
    // Those that are kept stay.
    expect((await facts.recall(longCaller(0), ALICE, clock.monotonicMs())).facts).toHaveLength(1);
    expect((await facts.recall(longCaller(99), ALICE, clock.monotonicMs())).facts).toEqual([]);

    clock.setWall(clock.nowMs() - 600_000);
    await clock.advance(60_001);
    expect((await facts.recall(longCaller(0), ALICE, clock.monotonicMs())).facts).toEqual([]);
    await facts.keep(longCaller(99), ALICE, fact());
    expect((await facts.recall(longCaller(99), ALICE, clock.monotonicMs())).facts).toHaveLength(1);
    expect(facts.bytes).toBeLessThan(1_000);
  });
});

describe('RedisFactCache', () => {
  beforeEach((context) => {
    context.skip(NO_REDIS !== undefined, NO_REDIS);
  });

  let attacker: ReturnType<typeof clientTo>;
  beforeEach(async () => {
    attacker = clientTo(redis?.port ?? 0);
    await attacker.flushall();
  });
  afterEach(() => {
    attacker.disconnect();
  });

  /** Every value that lies under the one key. */
  async function stolen(): Promise<{ key: string; fields: Record<string, string> }> {
    const [key = ''] = await attacker.keys('*');
    return { key, fields: await attacker.hgetall(key) };
  }

  it('tells one replica what another keeps, whatever their clocks show', async () => {
    const replica = inRedis(await connect());
    // Neither the wall clocks nor the monotonic ones of two machines have anything in common.
    const [one, other] = [replica(), replica(7_000_000)];
    await one.facts.keep(ANNA, ALICE, aged(checked(240, false), 59_000, one));
    const [fact] = (await other.facts.recall(ANNA, ALICE, other.monotonicMs())).facts;
    expect(fact).toMatchObject(untimed(checked(240, false)));
    const ageMs = other.monotonicMs() - (fact?.leftAtMs ?? 0);
    expect(ageMs).toBeGreaterThanOrEqual(59_000);
    expect(ageMs).toBeLessThan(60_000);
    await one.facts.keep(ANNA, BOB, aged(checked(240, false), 60_001, one));
    expect(await heardBy(ANNA, other, { number: BOB })).toEqual([]);
  });

  // By how much the clock of Redis is set after it was last heard of.
  it.each([0, -60_000, 60_000])(
    'takes a fact for older and its reply for later than they are, never the other way round (clock set by %d ms)',
    async (setByMs) => {
      const clock = new TestClock();
      const slow = new SlowRedis(clock);
      const settings = { seals: new StateSeals([randomBytes(32)]), keptFor: () => MINUTE };
      const replica = () => new RedisFactCache(slow.sharedBy(clock), clock, settings);
      const keeping = replica();
      const fact = timed(checked(240, false), clock.monotonicMs());
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

  it('takes no reply for later than now, though the clock of Redis was last shown slowly', async () => {
    const clock = new TestClock();
    const slow = new SlowRedis(clock);
    const settings = { seals: new StateSeals([randomBytes(32)]), keptFor: () => MINUTE };
    const facts = new RedisFactCache(slow.sharedBy(clock), clock, settings);
    slow.commandMs = 100;
    const recalled = facts.recall(ANNA, ALICE, 0);
    await clock.advance(1000);
    await recalled;
    slow.commandMs = 0;
    // A check that leaves from now on must count beside this date, or it is made again and again.
    await facts.keep(ANNA, ALICE, { ...changed(30), ...timesAt(clock.monotonicMs()) });
    const [found] = (await facts.recall(ANNA, ALICE, 0)).facts;
    expect(found?.repliedAtMs).toBe(clock.monotonicMs());
  });

  it('lets no writer without STATE_KEY make a false live on', async () => {
    const replica = inRedis(await connect(), { keepMs: 300, resultMs: 0 })();
    await replica.facts.keep(ANNA, ALICE, aged(checked(240, false), 0, replica));
    const { key, fields } = await stolen();
    expect(Object.keys(fields)).toHaveLength(1);
    while ((await heardBy(ANNA, replica)).length > 0) await systemClock.sleep(5);

    for (const [name, value] of Object.entries(fields)) {
      await attacker.hset(key, name, value.replace(/^\d+/, '99999999999999'));
    }
    await attacker.persist(key);
    expect(await heardBy(ANNA, replica)).toEqual([]);
  });

  const TAMPERED: readonly [string, (value: string, other: string) => string][] = [
    ['no seal', () => '99999999999999'],
    ['nothing at all', () => ''],
    ['no end', (value) => value.replace(/^\d+/, 'never')],
    [
      'a seal with one character changed',
      (value) => value.replace(/.(?=.{8}$)/, (c) => (c === 'A' ? 'B' : 'A')),
    ],
    ["another number's answer", (_value, other) => other],
  ];
  it.each(TAMPERED)('takes a value with %s for none, and keeps on', async (_what, tamper) => {
    const replica = inRedis(await connect())();
    await replica.facts.keep(ANNA, ALICE, aged(checked(240, false), 0, replica));
    const { key, fields } = await stolen();
    await replica.facts.keep(ANNA, BOB, aged(checked(240, false), 0, replica));
    const bobs = (await attacker.keys('*')).find((one) => one !== key) ?? '';
    const [other = ''] = Object.values(await attacker.hgetall(bobs));
    for (const [name, value] of Object.entries(fields)) {
      await attacker.hset(key, name, tamper(value, other));
    }
    expect(await heardBy(ANNA, replica)).toEqual([]);
    await replica.facts.keep(ANNA, ALICE, aged(changed(30), 0, replica));
    expect(await heardBy(ANNA, replica)).toEqual([untimed(changed(30))]);
  });

  it('lets a command that reaches Redis late prolong nothing', async () => {
    const connection = await connect();
    let delayMs = 0;
    const late = {
      run: async (...command: Parameters<Redis['run']>) => {
        if (command[0] === KEEP) await systemClock.sleep(delayMs);
        return connection.run(...command);
      },
    };
    const settings = {
      seals: new StateSeals([randomBytes(32)]),
      keptFor: () => ({ keepMs: 200, resultMs: 0 }),
    };
    const facts = new RedisFactCache(late, systemClock, settings);
    const replica = { facts, monotonicMs: () => systemClock.monotonicMs() };
    delayMs = 300;
    await facts.keep(ANNA, ALICE, aged(checked(240, false), 0, replica));
    delayMs = 0;
    expect(await heardBy(ANNA, replica, { cameInMsAgo: 1000 })).toEqual([]);
  });

  it('shows no number, caller or answer to a reader of Redis, and lets nothing lie for ever', async () => {
    const replica = inRedis(await connect())();
    await replica.facts.keep(ANNA, ALICE, aged(checked(240, false), 0, replica));
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

  it('clears away what is over', async () => {
    const replica = inRedis(await connect())();
    await replica.facts.keep(ANNA, ALICE, aged(checked(24, false), 59_900, replica));
    while ((await heardBy(ANNA, replica)).length > 0) await systemClock.sleep(5);
    await systemClock.sleep(2);
    await replica.facts.keep(ANNA, ALICE, aged(checked(240, false), 0, replica));
    expect(Object.keys((await stolen()).fields)).toHaveLength(1);
  });

  it('says that it is lost while Redis is away, and looks up again what finds no room', async () => {
    const own = await startRedis();
    try {
      const replica = inRedis(await connect(own.url))();
      await sendCommand(own.port, ['CONFIG', 'SET', 'maxmemory', '1']);
      await replica.facts.keep(ANNA, ALICE, aged(checked(24, false), 0, replica));
      expect(await heardBy(ANNA, replica)).toEqual([]);
    } finally {
      await own.kill();
    }
    const replica = inRedis(await connect(own.url))();
    const fact = aged(checked(24, false), 0, replica);
    await expect(replica.facts.keep(ANNA, ALICE, fact)).rejects.toThrow(SharedStateLost);
    await expect(heardBy(ANNA, replica)).rejects.toThrow(SharedStateLost);
  });
});
