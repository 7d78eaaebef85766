import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MemoryRefusals, type OperatorRefusals } from '../../src/consents/consentStore.ts';
import { RedisRefusals } from '../../src/consents/redisRefusals.ts';
import type { Redis } from '../../src/sharedState/redis.ts';
import { StateSeals } from '../../src/sharedState/stateSeals.ts';
import { systemClock } from '../../src/system/clock.ts';
import { connectionTo, NO_REDIS, startRedis, type RedisServer } from '../redisServer.ts';
import { ALICE, BOB, CAROL } from '../values.ts';

const KEEP_MS = 60_000;

let redis: RedisServer | undefined;
let connection: Redis | undefined;

beforeAll(async () => {
  if (NO_REDIS !== undefined) return;
  redis = await startRedis();
  connection = connectionTo(redis.url);
  await connection.open();
});

afterAll(async () => {
  connection?.close();
  await redis?.kill();
});

function inRedis(operator: string, stateKey: Uint8Array = randomBytes(32)): OperatorRefusals {
  const seals = new StateSeals([stateKey]);
  return new RedisRefusals(connection as Redis, systemClock, { seals, operator });
}

const STORES: readonly [string, string | undefined, () => OperatorRefusals][] = [
  ['MemoryRefusals', undefined, () => new MemoryRefusals(systemClock)],
  ['RedisRefusals', NO_REDIS, () => inRedis('one')],
];

describe.each(STORES)('%s', (_name, whyNot, create) => {
  let refusals: OperatorRefusals;
  beforeEach((context) => {
    context.skip(whyNot !== undefined, whyNot);
    refusals = create();
  });

  it('takes an operation for refused once lookups about two numbers were, and not before', async () => {
    const isRefused = async () => (await refusals.leftMs()).check > 0;
    for (const number of [ALICE, ALICE, ALICE]) await refusals.refuse(number, 'check', 2, KEEP_MS);
    expect(await isRefused()).toBe(false);
    await refusals.refuse(BOB, 'check', 2, KEEP_MS);
    expect(await isRefused()).toBe(true);
  });

  it('counts each kind of refusal by itself, and from zero after an answer', async () => {
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

it.skipIf(NO_REDIS !== undefined)('what one operator refuses another one does not', async () => {
  const stateKey = randomBytes(32);
  await inRedis('one', stateKey).refuse(ALICE, 'check', 1, KEEP_MS);
  expect((await inRedis('one', stateKey).leftMs()).check).toBeGreaterThan(0);
  expect((await inRedis('other', stateKey).leftMs()).check).toBe(0);
});
