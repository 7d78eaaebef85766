import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/system/clock.ts';
import { acknowledged, type ConsentRecord } from '../../src/consents/consentRecord.ts';
import { SharedStateLost, type Redis } from '../../src/sharedState/redis.ts';
import {
  MemoryConsentStore,
  MemoryRefusals,
  newWriteId,
  type ConsentStore,
  type OperatorRefusals,
} from '../../src/consents/consentStore.ts';
import { RedisConsentStore } from '../../src/consents/redisConsentStore.ts';
import { RedisRefusals } from '../../src/consents/redisRefusals.ts';
import { StateSeals } from '../../src/sharedState/stateSeals.ts';
import { clientTo } from '../support/redisCommands.ts';
import { connectionTo, NO_REDIS, startRedis, type RedisServer } from '../support/redisServer.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { TestClock } from '../support/testClock.ts';
import { ALICE, BOB, CAROL } from '../support/values.ts';
import { grantedFor, IDENTITY, intentOf, RULES } from './records.ts';

const KEEP_MS = 60_000;

function intent(nowMs: number, id = 'one'): ConsentRecord {
  return { ends: [], consent: intentOf(id, nowMs) };
}

function pending(nowMs: number): ConsentRecord {
  const acknowledgement = { authReqId: 'secret-id', expiresInSeconds: 120, intervalSeconds: 2 };
  const lookup = { operation: 'retrieve-date' } as const;
  const identity = { ...IDENTITY, lookup };
  return { ends: [], consent: acknowledged(identity, acknowledgement, nowMs, nowMs + 5, RULES) };
}

/** Writes over any version. */
async function put(
  store: ConsentStore,
  number: PhoneNumber,
  record = pending(0),
  writeId?: number,
) {
  const { version } = await store.read(number);
  return store.write(number, version, record, KEEP_MS, writeId);
}

let redis: RedisServer | undefined;
/** Reads and changes what is stored. */
let reader: ReturnType<typeof clientTo>;
const servers: RedisServer[] = [];
const connections: Redis[] = [];

beforeAll(async () => {
  if (NO_REDIS === undefined) redis = await start();
  else process.stderr.write(`The tests of RedisConsentStore. ${NO_REDIS}\n`);
  reader = clientTo(redis?.port ?? 0);
});

afterAll(async () => {
  reader.disconnect();
  for (const one of connections) one.close();
  await Promise.all(servers.map((one) => one.kill()));
});

async function start(): Promise<RedisServer> {
  const server = await startRedis();
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
    doubtMs: RULES.doubtMs,
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

  it('returns what was written, with the version and time that the write returned', async () => {
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

  it('takes only one of many writes over the same version', async () => {
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
    await put(store, ALICE, intent(0, 'first'));
    const first = await store.read(ALICE);
    await store.remove(ALICE, first.version);
    await put(store, ALICE, intent(0, 'second'));
    expect(await store.write(ALICE, first.version, pending(0), KEEP_MS)).toBe('conflict');
  });

  it('removes only a record of the given version', async () => {
    await put(store, ALICE, intent(0));
    const { version } = await store.read(ALICE);
    await put(store, ALICE);
    await store.remove(ALICE, version);
    expect((await store.read(ALICE)).record?.consent?.state).toBe('pending');
    await store.remove(ALICE, (await store.read(ALICE)).version);
    expect((await store.read(ALICE)).record).toBeUndefined();
  });

  it('forgets a record when its time is over, by the clock of the store', async () => {
    const { version, nowMs } = await store.read(ALICE);
    await store.write(ALICE, version, intent(nowMs), 50);
    while ((await store.read(ALICE)).record !== undefined) await systemClock.sleep(5);
    expect((await store.read(ALICE)).nowMs - nowMs).toBeGreaterThanOrEqual(49);
  });
});

describe('MemoryConsentStore', () => {
  /** A record of these tests takes a little more than half of it. */
  const ROOM_FOR_TWO_BYTES = 1500;
  const LATER = intent(0, 'later');
  let clock: TestClock;
  let store: MemoryConsentStore;
  beforeEach(async () => {
    clock = new TestClock();
    store = new MemoryConsentStore(clock, ROOM_FOR_TWO_BYTES);
    await put(store, ALICE, intent(0, 'first'));
    await put(store, BOB, intent(0, 'first'));
  });

  it('keeps a record as long as its writer says, by the monotonic clock', async () => {
    clock.setWall(clock.nowMs() + 10 * KEEP_MS);
    const { version } = await store.read(ALICE);
    await clock.advance(KEEP_MS - 1);
    expect(await store.read(ALICE)).toMatchObject({ record: intent(0, 'first') });
    await clock.advance(1);
    expect(await store.read(ALICE)).toMatchObject({ record: undefined, version: 0 });
    expect(await store.write(ALICE, version, LATER, KEEP_MS)).toBe('conflict');
  });

  it('refuses a new number when it is full, and still writes over what it holds', async () => {
    expect(await put(store, CAROL)).toBe('full');
    expect((await store.read(CAROL)).record).toBeUndefined();
    expect(await put(store, ALICE, LATER)).toHaveProperty('version');
    expect((await store.read(BOB)).record).toEqual(intent(0, 'first'));
  });

  it('counts bytes, and not records', async () => {
    store = new MemoryConsentStore(clock, ROOM_FOR_TWO_BYTES);
    await put(store, ALICE, intent(0, 'x'.repeat(ROOM_FOR_TWO_BYTES)));
    expect(await put(store, BOB)).toBe('full');
    await put(store, ALICE, LATER);
    expect(await put(store, BOB)).toHaveProperty('version');
  });

  it('has room for the tokens that its prompts may bring', async () => {
    const maxBytes = 200_000;
    store = new MemoryConsentStore(clock, maxBytes);
    const granted = { ends: [], consent: { ...grantedFor(KEEP_MS), token: 't'.repeat(8000) } };
    const numbers = Array.from({ length: 100 }, (_, n) => `+4477009000${n}` as PhoneNumber);
    await put(store, ALICE, granted);
    const prompted: PhoneNumber[] = [];
    for (const number of numbers) {
      if ((await put(store, number)) !== 'full') prompted.push(number);
    }
    for (const number of prompted) await put(store, number, granted);
    expect(prompted.length).toBeGreaterThan(10);
    expect(store.size * JSON.stringify(granted).length).toBeLessThan(maxBytes);
  });

  it('no longer has room for a token as long as one was, once hundreds were short', async () => {
    store = new MemoryConsentStore(clock, 200_000);
    const granted = grantedFor(KEEP_MS);
    await put(store, ALICE, { ends: [], consent: { ...granted, token: 't'.repeat(8000) } });
    for (let n = 0; n < 600; n += 1) await put(store, ALICE, { ends: [], consent: granted });
    const numbers = Array.from({ length: 100 }, (_, n) => `+4477009000${n}` as PhoneNumber);
    const written = await Promise.all(numbers.map((number) => put(store, number)));
    expect(written).not.toContain('full');
  });

  // Without a read before it, the sweep removes the record itself as well.
  const writeAgain = () => store.write(ALICE, 0, LATER, KEEP_MS);

  it.each<[string, () => Promise<unknown>]>([
    ['is removed', async () => store.remove(ALICE, (await store.read(ALICE)).version)],
    ['is over', () => clock.advance(KEEP_MS)],
    ['is over, and was written again', () => clock.advance(KEEP_MS).then(writeAgain)],
  ])('has room again once a record %s', async (_, end) => {
    await end();
    expect(await put(store, CAROL)).toHaveProperty('version');
    if (store.size < 2) await put(store, BOB);
    expect(store.size).toBe(2);
    expect(await put(store, '+447700900004' as PhoneNumber)).toBe('full');
  });

  it('sweeps once a second at most, however many writes find it full', async () => {
    store = new MemoryConsentStore(clock, ROOM_FOR_TWO_BYTES);
    await store.write(ALICE, 0, LATER, 500);
    await put(store, BOB);
    expect(await put(store, CAROL)).toBe('full');
    await clock.advance(999);
    for (let n = 0; n < 10; n += 1) expect(await put(store, CAROL)).toBe('full');
    expect(store.size).toBe(2);
    await clock.advance(1);
    expect(await put(store, CAROL)).toHaveProperty('version');
  });

  it('sweeps records that have run out, although none of them is read again', async () => {
    store = new MemoryConsentStore(clock);
    for (let n = 0; n < 3000; n += 1) {
      await put(store, `+44770090${n}` as PhoneNumber);
      await clock.advance(KEEP_MS);
    }
    expect(store.size).toBeLessThanOrEqual(1_000);
  });
});

describe('RedisConsentStore', () => {
  beforeEach((context) => {
    context.skip(NO_REDIS !== undefined, NO_REDIS);
  });

  it('returns the same for a write that is sent twice, even after the next write', async () => {
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

  it('takes only one of two equal writes', async () => {
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

  it('refuses a copy of a first write that arrives after the record was removed', async () => {
    const store = await connect();
    const { version, nowMs } = await store.read(ALICE);
    const id = newWriteId();
    await store.write(ALICE, version, intent(nowMs), KEEP_MS, id);
    await store.remove(ALICE, id);
    expect(await store.write(ALICE, version, intent(nowMs), KEEP_MS, id)).toBe('conflict');
    expect((await store.read(ALICE)).record).toBeUndefined();
  });

  it('shows no number, caller or id to a reader of Redis, and every record expires', async () => {
    await put(await connect(), ALICE);
    const names = await keysOf('consent-2:');
    expect(names).not.toEqual([]);
    for (const name of names) expect(await reader.pttl(name)).toBeGreaterThan(0);
    const all = (await keysOf()).map(async (name) => [name, await reader.hgetall(name)]);
    const text = JSON.stringify(await Promise.all(all));
    for (const secret of ['447700900001', 'anna', 'secret-id', 'retrieve-date']) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(secret).toString('base64').replace(/=+$/, ''));
    }
  });

  it('does not open a value that was copied from another key', async () => {
    const store = await connect();
    const before = await keysOf();
    await put(store, ALICE);
    const alices = (await keysOf()).filter((key) => !before.includes(key));
    await put(store, BOB);
    const bobs = (await keysOf()).filter((key) => !before.includes(key) && !alices.includes(key));
    await reader.copy(alices[0] ?? '', bobs[0] ?? '', 'REPLACE');
    await expect(store.read(BOB)).rejects.toThrow(SharedStateLost);
  });

  it('reports once how long the doubt lasts after it was emptied', async () => {
    const doubts: number[] = [];
    const store = await connect(randomBytes(32), redis?.url, (untilMs) => doubts.push(untilMs));
    await store.read(ALICE);
    expect(doubts).toEqual([]);
    await reader.flushall();
    await Promise.all([store.read(ALICE), store.read(BOB), store.read(CAROL)]);
    await store.read(ALICE);
    expect(doubts).toHaveLength(1);
    expect(doubts[0]).toBeGreaterThan(Date.now() + RULES.doubtMs - 60_000);
    expect(doubts[0]).toBeLessThanOrEqual(Date.now() + RULES.doubtMs);
  });

  it('is in doubt for a while after it has lost its memory', async () => {
    const stateKey = randomBytes(32);
    const survivor = await connect(stateKey);
    const { version } = await survivor.read(ALICE);
    await reader.flushall();

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

  it('is in doubt for a while after it has lost its last writes', async () => {
    const stateKey = randomBytes(32);
    const survivor = await connect(stateKey);
    await put(survivor, ALICE);
    const before = await writtenMemories();
    const { nowMs } = await survivor.read(ALICE);
    await put(survivor, ALICE, intent(nowMs));

    // As on a replica that has the first write, not the second, and lost the record.
    await reader.del(...(await keysOf(':consent-2:')));
    for (const { name, writes } of before) await reader.hset(name, 'writes', writes);
    const { doubtUntilMs = 0 } = await survivor.read(ALICE);
    expect(doubtUntilMs - nowMs).toBeGreaterThan(RULES.doubtMs - 60_000);
    const newcomer = await connect(stateKey);
    expect((await newcomer.read(ALICE)).doubtUntilMs).toBe(doubtUntilMs);
    // It is noted once.
    expect((await survivor.read(ALICE)).doubtUntilMs).toBe(doubtUntilMs);
  });

  it('is in doubt for a while after it has lost writes, although a record that it has is written next', async () => {
    await reader.flushall();
    const stateKey = randomBytes(32);
    const survivor = await connect(stateKey);
    const { nowMs } = await survivor.read(ALICE);
    const id = newWriteId();
    await put(survivor, ALICE, pending(nowMs), id);
    // As on a replica that lacks an earlier write about another number.
    const [memory] = await writtenMemories();
    await reader.hset(memory?.name ?? '', 'writes', '0');
    const next = newWriteId();
    // What it was to be written over may be what is lost.
    expect(await survivor.write(ALICE, id, pending(nowMs), KEEP_MS, next)).toBe('conflict');
    const { doubtUntilMs = 0, record, version } = await (await connect(stateKey)).read(ALICE);
    expect({ record, version }).toEqual({ record: pending(nowMs), version: id });
    expect(await put(survivor, ALICE, pending(nowMs), next)).toMatchObject({ version: next });
    expect(doubtUntilMs - nowMs).toBeGreaterThan(RULES.doubtMs - 60_000);
    // It is noted once.
    expect((await survivor.read(ALICE)).doubtUntilMs).toBe(doubtUntilMs);
  });

  it('refuses new consents when Redis has no room, and keeps the live ones', async () => {
    const own = await start();
    const store = await connect(randomBytes(32), own.url);
    await put(store, ALICE);
    const owner = clientTo(own.port);
    await owner.config('SET', 'maxmemory', '1');
    owner.disconnect();
    expect(await put(store, BOB)).toBe('full');
    expect((await store.read(ALICE)).record).toEqual(pending(0));
  });
});

describe.each<[string, string | undefined, (operator: string) => Promise<OperatorRefusals>]>([
  ['MemoryRefusals', undefined, () => Promise.resolve(new MemoryRefusals(systemClock))],
  ['RedisRefusals', NO_REDIS, refusalsInRedis],
])('%s', (name, whyNot, create) => {
  let refusals: OperatorRefusals;
  beforeEach(async (context) => {
    context.skip(whyNot !== undefined, whyNot);
    refusals = await create(randomBytes(8).toString('hex'));
  });

  it('counts an operation as refused once lookups about two numbers were refused', async () => {
    for (const number of [ALICE, ALICE, ALICE]) await refusals.refuse(number, 'check', 2, KEEP_MS);
    expect(await refusals.leftMs()).toEqual({ check: 0, 'retrieve-date': 0 });
    await refusals.refuse(BOB, 'check', 2, KEEP_MS);
    expect((await refusals.leftMs()).check).toBeGreaterThan(KEEP_MS - 5000);
    const other = await create(`other than ${name}`);
    expect((await other.leftMs()).check).toBe(0);
  });

  it('counts each operation and limit separately, and from zero after an answer', async () => {
    const refusedFor = async () => (await refusals.leftMs()).check;
    await refusals.refuse(ALICE, 'check', 2, KEEP_MS);
    await refusals.refuse(BOB, 'check', 3, KEEP_MS);
    await refusals.refuse(CAROL, 'check', 3, KEEP_MS);
    await refusals.refuse(BOB, 'retrieve-date', 2, KEEP_MS);
    await refusals.answered('retrieve-date');
    expect(await refusedFor()).toBe(0);
    await refusals.answered('check');
    await refusals.refuse(ALICE, 'check', 3, KEEP_MS);
    await refusals.refuse(BOB, 'check', 2, KEEP_MS);
    expect(await refusedFor()).toBe(0);
    await refusals.refuse(BOB, 'check', 3, KEEP_MS);
    await refusals.refuse(CAROL, 'check', 3, KEEP_MS);
    expect(await refusedFor()).toBeGreaterThan(KEEP_MS - 5000);
  });
});

const STATE_KEY = randomBytes(32);

async function refusalsInRedis(operator: string): Promise<OperatorRefusals> {
  const connection = connectionTo(redis?.url ?? '');
  connections.push(connection);
  await connection.open();
  return new RedisRefusals(connection, systemClock, {
    seals: new StateSeals([STATE_KEY]),
    operator,
  });
}

async function keysOf(kind = ''): Promise<string[]> {
  return (await reader.keys(`*${kind}*`)).toSorted();
}

/** The memories of buckets that have been written to. */
async function writtenMemories() {
  const names = await keysOf(':memory-2:');
  const all = await Promise.all(
    names.map(async (name) => ({ name, writes: await reader.hget(name, 'writes') })),
  );
  return all.flatMap(({ name, writes }) => (writes === null ? [] : [{ name, writes }]));
}
