import { beforeEach, describe, expect, it } from 'vitest';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { ConsentRecord } from '../../src/consents/consentRecord.ts';
import { MemoryConsentStore } from '../../src/consents/consentStore.ts';
import { TestClock } from '../testClock.ts';
import { ALICE, BOB, CAROL } from '../values.ts';
import { redeemedFor } from './records.ts';

const KEEP_MS = 60_000;

function record(id: string): ConsentRecord {
  return { ends: [], consent: { ...redeemedFor(0), id } };
}

let clock: TestClock;
let store: MemoryConsentStore;

beforeEach(() => {
  clock = new TestClock();
  store = new MemoryConsentStore(clock);
});

/** Writes over whatever stands. */
async function put(number: PhoneNumber, id: string, into = store) {
  const { version } = await into.read(number);
  return into.write(number, version, record(id), KEEP_MS);
}

describe('a record', () => {
  it('is kept as long as its writer said, by the monotonic clock', async () => {
    await put(ALICE, 'first');
    clock.setWall(clock.nowMs() + 10 * KEEP_MS);
    const { version } = await store.read(ALICE);
    await clock.advance(KEEP_MS - 1);
    expect((await store.read(ALICE)).record?.consent?.id).toBe('first');
    await clock.advance(1);
    expect(await store.read(ALICE)).toMatchObject({ record: undefined, version: 0 });
    expect(await store.write(ALICE, version, record('second'), KEEP_MS)).toBe('conflict');
  });
});

/** A record of these tests weighs a little more than half of it. */
const ROOM_FOR_TWO_BYTES = 1500;

describe('a full store', () => {
  beforeEach(async () => {
    store = new MemoryConsentStore(clock, ROOM_FOR_TWO_BYTES);
    await put(ALICE, 'of alice');
    await put(BOB, 'of bob');
  });

  it('refuses a new number, and keeps the live ones', async () => {
    expect(await put(CAROL, 'of carol')).toBe('full');
    expect((await store.read(ALICE)).record?.consent?.id).toBe('of alice');
    expect((await store.read(BOB)).record?.consent?.id).toBe('of bob');
    expect((await store.read(CAROL)).record).toBeUndefined();
  });

  it('counts bytes, and not records', async () => {
    store = new MemoryConsentStore(clock, ROOM_FOR_TWO_BYTES);
    expect(await put(ALICE, 'x'.repeat(ROOM_FOR_TWO_BYTES))).toHaveProperty('version');
    expect(await put(BOB, 'of bob')).toBe('full');
    await put(ALICE, 'short');
    expect(await put(BOB, 'of bob')).toHaveProperty('version');
  });

  it('takes changes of what it holds', async () => {
    expect(await put(ALICE, 'changed')).toHaveProperty('version');
  });

  it('has room again once something is removed', async () => {
    await store.remove(ALICE, (await store.read(ALICE)).version);
    expect(await put(CAROL, 'of carol')).toHaveProperty('version');
  });

  it('has room again once something is over', async () => {
    await clock.advance(KEEP_MS);
    expect(await put(CAROL, 'of carol')).toHaveProperty('version');
    expect(store.size).toBe(1);
  });
});

describe('a full store that refuses', () => {
  it('looks for what is over once in a second: a flood does not go through all of it each time', async () => {
    store = new MemoryConsentStore(clock, ROOM_FOR_TWO_BYTES);
    const { version } = await store.read(ALICE);
    await store.write(ALICE, version, record('of alice'), 500);
    await put(BOB, 'of bob');
    expect(await put(CAROL, 'of carol')).toBe('full');
    await clock.advance(999);
    for (let n = 0; n < 10; n += 1) expect(await put(CAROL, 'of carol')).toBe('full');
    expect(store.size).toBe(2);
    await clock.advance(1);
    expect(await put(CAROL, 'of carol')).toHaveProperty('version');
  });

  it('takes no longer for each refusal than a store with room for a write', async () => {
    store = new MemoryConsentStore(clock);
    const numbers = Array.from({ length: 200_000 }, (_, n) => `+4477${n}` as PhoneNumber);
    for (const number of numbers) if ((await put(number, 'one')) === 'full') break;
    const held = store.size;
    expect(held).toBeGreaterThan(30_000);
    const begunAtMs = performance.now();
    for (let n = 0; n < 2000; n += 1) await put(CAROL, 'of carol');
    // A sweep of all takes milliseconds, so that these would take many seconds.
    expect(performance.now() - begunAtMs).toBeLessThan(2000);
  });
});

describe('what is over', () => {
  it('is cleared away in time, though no request asks for it', async () => {
    const numbers = Array.from(
      { length: 3_000 },
      (_, index) => `+4477009${String(index).padStart(5, '0')}` as PhoneNumber,
    );
    for (const number of numbers) {
      await put(number, 'short');
      await clock.advance(KEEP_MS);
    }
    expect(store.size).toBeLessThanOrEqual(1_000);
  });
});
