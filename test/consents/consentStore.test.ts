import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/system/clock.ts';
import { acknowledged, type ConsentRecord } from '../../src/consents/consentRecord.ts';
import { BUCKETS, keyIn, SharedStateLost, type Redis } from '../../src/sharedState/redis.ts';
import {
  MemoryConsentStore,
  newWriteId,
  type ConsentStore,
} from '../../src/consents/consentStore.ts';
import { RedisConsentStore } from '../../src/consents/redisConsentStore.ts';
import { StateSeals } from '../../src/sharedState/stateSeals.ts';
import { command as commandTo, commands as commandsTo } from '../redisCommands.ts';
import { connectionTo, NO_REDIS, startRedis, type RedisServer } from '../redisServer.ts';
import { ALICE, BOB, CAROL } from '../values.ts';
import { IDENTITY, intentOf, RULES } from './records.ts';

const KEEP_MS = 60_000;

/** An operator whose consents an earlier release kept by themselves. */
const EARLIER = 'https://operator.example client';

function intent(nowMs: number, id = 'one'): ConsentRecord {
  return { ends: [], consent: intentOf(id, nowMs) };
}

function pending(nowMs: number): ConsentRecord {
  const acknowledgement = { authReqId: 'secret-id', expiresInSeconds: 120, intervalSeconds: 2 };
  const lookup = { operation: 'retrieve-date' } as const;
  const identity = { ...IDENTITY, lookup };
  return { ends: [], consent: acknowledged(identity, acknowledgement, nowMs, nowMs + 5, RULES) };
}

/** The time of the store's clock is over when the store says so. */
async function until(isOver: () => Promise<boolean>): Promise<void> {
  while (!(await isOver())) await systemClock.sleep(5);
}

let redis: RedisServer | undefined;
const servers: RedisServer[] = [];
const connections: Redis[] = [];

beforeAll(async () => {
  if (NO_REDIS === undefined) redis = await start();
  else process.stderr.write(`The tests of RedisConsentStore. ${NO_REDIS}\n`);
});

afterAll(async () => {
  for (const one of connections) one.close();
  await Promise.all(servers.map((one) => one.kill()));
});

async function start(port?: number): Promise<RedisServer> {
  const server = await startRedis(port);
  servers.push(server);
  return server;
}

async function connect(
  stateKey: Uint8Array = randomBytes(32),
  url = redis?.url ?? '',
  onDoubt: (untilMs: number) => void = () => undefined,
): Promise<RedisConsentStore> {
  const connection = connectionTo(url);
  connections.push(connection);
  const store = new RedisConsentStore(connection, systemClock, {
    seals: new StateSeals([stateKey]),
    operators: [EARLIER],
    doubtMs: RULES.doubtMs,
    deniedMs: RULES.deniedMs,
    onDoubt,
  });
  await store.open();
  return store;
}

const STORES: readonly [string, string | undefined, () => Promise<ConsentStore>][] = [
  ['MemoryConsentStore', undefined, () => Promise.resolve(new MemoryConsentStore(systemClock))],
  ['RedisConsentStore', NO_REDIS, () => connect()],
];

describe.each(STORES)('%s', (_name, whyNot, create) => {
  let store: ConsentStore;
  beforeEach(async (context) => {
    context.skip(whyNot !== undefined, whyNot);
    store = await create();
  });

  it('gives back what was written, as it was written', async () => {
    const { version, nowMs, record } = await store.read(ALICE);
    expect(record).toBeUndefined();
    const written = await store.write(ALICE, version, pending(nowMs), KEEP_MS);
    const found = await store.read(ALICE);
    expect(found.record).toEqual(pending(nowMs));
    const shown = written as Extract<typeof written, object>;
    expect(shown.version).toBe(found.version);
    expect(shown.nowMs).toBeGreaterThanOrEqual(nowMs);
    expect(Math.floor(shown.nowMs)).toBeLessThanOrEqual(found.nowMs);
    expect((await store.read(BOB)).record).toBeUndefined();
  });

  it('refuses a write over a record that has changed since it was read', async () => {
    const { version, nowMs } = await store.read(ALICE);
    await store.write(ALICE, version, intent(nowMs, 'first'), KEEP_MS);
    expect(await store.write(ALICE, version, intent(nowMs, 'second'), KEEP_MS)).toBe('conflict');
    expect((await store.read(ALICE)).record?.consent?.id).toBe('first');
  });

  it('lets one of many win who write at once', async () => {
    const snapshots = await Promise.all(Array.from({ length: 20 }, () => store.read(ALICE)));
    const written = await Promise.all(
      snapshots.map(({ version, nowMs }, i) =>
        store.write(ALICE, version, intent(nowMs, `asker ${i}`), KEEP_MS),
      ),
    );
    expect(written.filter((one) => one !== 'conflict')).toHaveLength(1);
    const winner = written.findIndex((one) => one !== 'conflict');
    expect((await store.read(ALICE)).record?.consent?.id).toBe(`asker ${winner}`);
  });

  it('refuses a write over a record that was removed, and written again by another', async () => {
    const blank = await store.read(ALICE);
    await store.write(ALICE, blank.version, intent(blank.nowMs, 'first'), KEEP_MS);
    const first = await store.read(ALICE);
    await store.remove(ALICE, first.version);
    const { version } = await store.read(ALICE);
    await store.write(ALICE, version, intent(blank.nowMs, 'second'), KEEP_MS);
    expect(await store.write(ALICE, first.version, pending(blank.nowMs), KEEP_MS)).toBe('conflict');
  });

  it('removes only a record of the given version', async () => {
    const blank = await store.read(ALICE);
    await store.write(ALICE, blank.version, intent(blank.nowMs), KEEP_MS);
    const { version } = await store.read(ALICE);
    await store.write(ALICE, version, pending(blank.nowMs), KEEP_MS);
    await store.remove(ALICE, version);
    expect((await store.read(ALICE)).record?.consent?.state).toBe('pending');
    await store.remove(ALICE, (await store.read(ALICE)).version);
    expect((await store.read(ALICE)).record).toBeUndefined();
  });

  it('forgets a record when its time is over, by its own clock', async () => {
    const { version, nowMs } = await store.read(ALICE);
    await store.write(ALICE, version, intent(nowMs), 50);
    await until(async () => (await store.read(ALICE)).record === undefined);
    expect((await store.read(ALICE)).nowMs - nowMs).toBeGreaterThanOrEqual(49);
  });
});

describe('RedisConsentStore', () => {
  beforeEach((context) => {
    context.skip(NO_REDIS !== undefined, NO_REDIS);
  });

  it('says of a write that is sent twice that it was written, be it after another write', async () => {
    const store = await connect();
    const { version, nowMs } = await store.read(ALICE);
    const id = newWriteId();
    const written = await store.write(ALICE, version, intent(nowMs), KEEP_MS, id);
    const done = { version: id, nowMs: expect.any(Number) as number };
    expect(written).toEqual(done);
    expect(await store.write(ALICE, version, intent(nowMs), KEEP_MS, id)).toEqual(done);
    const next = newWriteId();
    await store.write(ALICE, id, pending(nowMs), KEEP_MS, next);
    expect(await store.write(ALICE, version, intent(nowMs), KEEP_MS, id)).toEqual(done);
    expect(await store.read(ALICE)).toMatchObject({ version: next, record: pending(nowMs) });
  });

  it('lets one of two win that write the same', async () => {
    const stateKey = randomBytes(32);
    const [one, other] = [await connect(stateKey), await connect(stateKey)];
    const { version, nowMs } = await one.read(ALICE);
    await other.read(ALICE);
    const both = [one, other].map((store) => store.write(ALICE, version, intent(nowMs), KEEP_MS));
    expect((await Promise.all(both)).filter((written) => written !== 'conflict')).toHaveLength(1);
    for (const store of [one, other]) {
      expect((await store.read(ALICE)).record).toEqual(intent(nowMs));
    }
  });

  it('writes no record again by a copy of its first write that arrives after it was removed', async () => {
    const store = await connect();
    const { version, nowMs } = await store.read(ALICE);
    const id = newWriteId();
    await store.write(ALICE, version, intent(nowMs), KEEP_MS, id);
    await store.remove(ALICE, id);
    expect(await store.write(ALICE, version, intent(nowMs), KEEP_MS, id)).toBe('conflict');
    expect((await store.read(ALICE)).record).toBeUndefined();
  });

  it('shows no number, caller or id to a reader of Redis, and lets nothing lie for ever', async () => {
    const store = await connect();
    const { version, nowMs } = await store.read(ALICE);
    await store.write(ALICE, version, pending(nowMs), KEEP_MS);
    const dump = await dumpOf();
    expect(dump.keys.filter(({ name }) => name.includes('consent-2:'))).not.toEqual([]);
    for (const secret of ['447700900001', 'anna', 'secret-id', 'retrieve-date']) {
      expect(dump.text).not.toContain(secret);
      expect(dump.text).not.toContain(Buffer.from(secret).toString('base64').replace(/=+$/, ''));
    }
    expect(dump.keys.filter(({ name, ttlMs }) => ttlMs < 0 && !name.includes('memory-2:'))).toEqual(
      [],
    );
  });

  it('takes no value from another place for its own', async () => {
    const store = await connect();
    const { version, nowMs } = await store.read(ALICE);
    const before = await keysOf();
    await store.write(ALICE, version, pending(nowMs), KEEP_MS);
    const alices = (await keysOf()).filter((key) => !before.includes(key));
    await store.write(BOB, (await store.read(BOB)).version, pending(nowMs), KEEP_MS);
    const bobs = (await keysOf()).filter((key) => !before.includes(key) && !alices.includes(key));
    await command(['COPY', alices[0] ?? '', bobs[0] ?? '', 'REPLACE']);
    await expect(store.read(BOB)).rejects.toThrow(SharedStateLost);
  });

  it('says once until when it doubts its numbers after it was emptied', async () => {
    const doubts: number[] = [];
    const store = await connect(randomBytes(32), redis?.url, (untilMs) => doubts.push(untilMs));
    await store.read(ALICE);
    expect(doubts).toEqual([]);
    await command(['FLUSHALL']);
    await Promise.all([store.read(ALICE), store.read(BOB), store.read(CAROL)]);
    await store.read(ALICE);
    expect(doubts).toHaveLength(1);
    expect(doubts[0]).toBeGreaterThan(Date.now() + RULES.doubtMs - 60_000);
    expect(doubts[0]).toBeLessThanOrEqual(Date.now() + RULES.doubtMs);
  });

  it('lets no owner be prompted for a while after it has lost its memory', async () => {
    const stateKey = randomBytes(32);
    const survivor = await connect(stateKey);
    const { version } = await survivor.read(ALICE);
    await command(['FLUSHALL']);

    const newcomer = await connect(stateKey);
    const unaware = await newcomer.read(ALICE);
    expect(unaware.doubtUntilMs).toBeUndefined();
    const { doubtUntilMs = 0, nowMs } = await survivor.read(BOB);
    expect(doubtUntilMs - nowMs).toBeGreaterThan(RULES.doubtMs - 60_000);
    // Another bucket of the same server, of which the survivor has read nothing since.
    const aware = await newcomer.read(ALICE);
    expect((aware.doubtUntilMs ?? 0) - aware.nowMs).toBeGreaterThan(RULES.doubtMs - 60_000);
    for (const stale of [version, unaware.version]) {
      expect(await newcomer.write(ALICE, stale, intent(nowMs), KEEP_MS)).toBe('conflict');
    }
  });

  it('lets no owner be prompted for a while after a release that kept a record for each operator', async () => {
    const stateKey = randomBytes(32);
    const name = new StateSeals([stateKey]).current.name(EARLIER);
    const earlier = Array.from({ length: BUCKETS }, (_, bucket) => keyIn(bucket, 'memory', name));
    for (const key of earlier) await command(['HSET', key, 'epoch', '2']);

    const first = await connect(stateKey);
    const { doubtUntilMs = 0, nowMs } = await first.read(ALICE);
    expect(doubtUntilMs - nowMs).toBeGreaterThan(RULES.deniedMs - 60_000);
    expect(await command(['EXISTS', ...earlier])).toBe(0);
    expect((await (await connect(stateKey)).read(ALICE)).doubtUntilMs).toBe(doubtUntilMs);
    // A new installation does not wait.
    expect((await (await connect()).read(ALICE)).doubtUntilMs).toBeUndefined();
  });

  it('lets no owner be prompted for a while after it has lost its last writes', async () => {
    const stateKey = randomBytes(32);
    const survivor = await connect(stateKey);
    await survivor.write(ALICE, (await survivor.read(ALICE)).version, pending(0), KEEP_MS);
    const before = await dumpOfBucket();
    const { version, nowMs } = await survivor.read(ALICE);
    await survivor.write(ALICE, version, intent(nowMs), KEEP_MS);

    // As a replica has it that heard of the first write and not of the second, and lost the record.
    await before.restore();
    const { doubtUntilMs = 0 } = await survivor.read(ALICE);
    expect(doubtUntilMs - nowMs).toBeGreaterThan(RULES.doubtMs - 60_000);
    const newcomer = await connect(stateKey);
    expect((await newcomer.read(ALICE)).doubtUntilMs).toBe(doubtUntilMs);
    // It is noted once: what is written from now on is known.
    expect((await survivor.read(ALICE)).doubtUntilMs).toBe(doubtUntilMs);
  });

  it('lets no owner be prompted for a while after it has lost writes, though a record that it has is written next', async () => {
    await command(['FLUSHALL']);
    const stateKey = randomBytes(32);
    const survivor = await connect(stateKey);
    const { version, nowMs } = await survivor.read(ALICE);
    const id = newWriteId();
    await survivor.write(ALICE, version, pending(nowMs), KEEP_MS, id);
    // As a replica has it that did not hear of the write about another number before.
    const memory = (await memories()).find(({ writes }) => writes !== null)?.name ?? '';
    await command(['HSET', memory, 'writes', '0']);
    const next = newWriteId();
    expect(await survivor.write(ALICE, id, pending(nowMs), KEEP_MS, next)).toMatchObject({
      version: next,
    });
    await survivor.remove(ALICE, next);
    const { doubtUntilMs = 0 } = await (await connect(stateKey)).read(ALICE);
    expect(doubtUntilMs - nowMs).toBeGreaterThan(RULES.doubtMs - 60_000);
    // It is noted once.
    expect((await survivor.read(ALICE)).doubtUntilMs).toBe(doubtUntilMs);
  });

  it('refuses new consents when Redis has no room, and keeps the live ones', async () => {
    const own = await start();
    const store = await connect(randomBytes(32), own.url);
    const { version, nowMs } = await store.read(ALICE);
    await store.write(ALICE, version, pending(nowMs), KEEP_MS);
    await commandTo(own.port, ['CONFIG', 'SET', 'maxmemory', '1']);
    const bob = await store.read(BOB);
    expect(await store.write(BOB, bob.version, intent(nowMs), KEEP_MS)).toBe('full');
    expect((await store.read(ALICE)).record).toEqual(pending(nowMs));
  });

  it('says that it is lost while Redis is away or silent, and goes on when it is back', async () => {
    const own = await start();
    const store = await connect(randomBytes(32), own.url);
    await store.read(ALICE);
    own.freeze();
    await expect(store.read(ALICE)).rejects.toThrow(SharedStateLost);
    own.thaw();
    await until(() => answers(store));
    await own.kill();
    await expect(store.read(ALICE)).rejects.toThrow(SharedStateLost);
    await start(Number(new URL(own.url).port));
    await until(() => answers(store));
    expect((await store.read(ALICE)).doubtUntilMs).toBeDefined();
  });
});

async function answers(store: ConsentStore): Promise<boolean> {
  return store.read(ALICE).then(
    () => true,
    () => false,
  );
}

async function command(words: readonly string[]): Promise<unknown> {
  const [reply] = await commands([words]);
  return reply;
}

function commands(all: readonly (readonly string[])[]): Promise<readonly unknown[]> {
  return commandsTo(redis?.port ?? 0, all);
}

async function keysOf(kind = ''): Promise<string[]> {
  const keys = (await command(['KEYS', '*'])) as string[];
  return keys.filter((name) => name.includes(kind)).toSorted();
}

async function dumpOf() {
  const names = await keysOf();
  const ttls = await commands(names.map((name) => ['PTTL', name]));
  const values = await commands(names.map((name) => ['HGETALL', name]));
  return {
    keys: names.map((name, place) => ({ name, ttlMs: Number(ttls[place]) })),
    text: names.map((name, place) => `${name} ${JSON.stringify(values[place])}`).join('\n'),
  };
}

/** The memories of buckets, and what each knows of writes. */
async function memories() {
  const names = await keysOf(':memory-2:');
  const writes = await commands(names.map((name) => ['HGET', name, 'writes']));
  return names.map((name, place) => ({ name, writes: writes[place] }));
}

/** What memories there are; to restore them takes every record away. */
async function dumpOfBucket() {
  const known = await memories();
  return {
    async restore(): Promise<void> {
      await commands([
        ...(await keysOf(':consent-2:')).map((name) => ['DEL', name]),
        ...known.map(({ name, writes }) => ['HSET', name, 'writes', String(Number(writes))]),
      ]);
    },
  };
}
