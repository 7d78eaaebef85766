import { randomBytes } from 'node:crypto';
import slotOf from 'cluster-key-slot';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { Quotas, type Counting, type QuotaSettings } from '../../src/caller/quotas/quotas.ts';
import { SharedCounts } from '../../src/caller/quotas/sharedCounts.ts';
import { readConfig } from '../../src/config/config.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { RedisFactCache } from '../../src/lookups/redisFactCache.ts';
import { bucketOfNumber, keyIn, type Redis } from '../../src/sharedState/redis.ts';
import { compareStateKeys } from '../../src/sharedState/stateKeyMark.ts';
import { StateSeals, type StateKeys } from '../../src/sharedState/stateSeals.ts';
import { systemClock } from '../../src/system/clock.ts';
import type { ConsentRecord } from '../../src/consents/consentRecord.ts';
import { RedisConsentStore } from '../../src/consents/redisConsentStore.ts';
import { RedisRefusals } from '../../src/consents/redisRefusals.ts';
import { inForm } from '../support/forms.ts';
import { RedisClusterServers } from '../support/redisCluster.ts';
import { command } from '../support/redisCommands.ts';
import { NO_REDIS, openRedis } from '../support/redisServer.ts';
import { ALICE, BOB, callerNamed, CAROL, checked, purposeNamed } from '../support/values.ts';
import { RecordedLog } from '../support/recordedLog.ts';
import { silentLog } from '../support/silentLog.ts';
import { intentOf, RULES } from '../consents/records.ts';

/** The values of STATE_KEY in turn; a replica goes on once all others have the same. */
type Phases = readonly [StateKeys, ...StateKeys[]];

function freshPhases(): Phases {
  const [before, after] = [randomBytes(32), randomBytes(32)];
  return [[before], [before, after], [after, before], [after]];
}

const KEEP_MS = 60_000;
const keptFor = () => ({ keepMs: KEEP_MS, resultMs: KEEP_MS });
/** The result of the first write. */
const WRITTEN = expect.objectContaining({ version: expect.any(Number) as number }) as object;

let servers: RedisClusterServers;
let connection: Redis;

/** One replica: each phase is another process. */
class Replica {
  consents!: RedisConsentStore;
  refusals!: RedisRefusals;
  factCache!: RedisFactCache;
  quotas!: Quotas;
  phase = 0;
  readonly #phases: Phases;
  readonly #limits: Partial<QuotaSettings>;

  constructor(phases: Phases, limits: Partial<QuotaSettings>) {
    this.#phases = phases;
    this.#limits = limits;
    this.restart(phases[0]);
  }

  restart(keys: StateKeys): void {
    const seals = new StateSeals(keys);
    const parts = { ...RULES, seals };
    this.consents = new RedisConsentStore(connection, systemClock, parts);
    this.refusals = new RedisRefusals(connection, systemClock, { seals, operator: 'operator' });
    this.factCache = new RedisFactCache(connection, systemClock, { seals, keptFor });
    const counts = new SharedCounts(connection, seals, systemClock, silentLog);
    this.quotas = new Quotas(
      { ...readConfig({}).quotas, promptsPerHourAllCallers: 9, promptsPerHour: 9, ...this.#limits },
      counts,
      ['operator'],
    );
  }

  count(counting: Counting, number: PhoneNumber): ReturnType<Quotas['count']> {
    const whose = { caller: callerNamed('anna'), number, operator: 'operator' };
    return this.quotas.count([counting], whose, 1000);
  }

  async goOn(): Promise<void> {
    this.phase += 1;
    this.restart(this.#phases[this.phase] ?? this.#phases[0]);
    await this.consents.open();
  }
}

/** Replicas of one service with keys of its own. */
function replicas(limits: Partial<QuotaSettings> = {}): readonly [Replica, Replica, Replica] {
  const phases = freshPhases();
  const replica = (): Replica => new Replica(phases, limits);
  return [replica(), replica(), replica()];
}

/** One replica writes with the new key, and the other still with the old one. */
async function goApart(one: Replica, other: Replica): Promise<void> {
  await one.goOn();
  await other.goOn();
  await one.goOn();
}

async function refusedMs({ refusals }: Replica): Promise<number | undefined> {
  return (await refusals.leftMs()).check;
}

async function allKeys(): Promise<readonly string[]> {
  const held = await Promise.all(servers.ports.map((port) => command(port, ['KEYS', '*'])));
  return held.flat().map(String);
}

function consentNamed(id: string, nowMs: number): ConsentRecord {
  return { ends: [], consent: intentOf(id, nowMs) };
}

// In one Redis: test/rotation/restart.test.ts.
describe.skipIf(NO_REDIS !== undefined)(
  `while one STATE_KEY takes the place of another in a cluster ${NO_REDIS ?? ''}`,
  () => {
    beforeAll(async () => {
      servers = await RedisClusterServers.start({ replicas: false });
      connection = openRedis({ kind: 'cluster', servers: servers.addresses });
      await connection.open();
      return () => {
        connection.close();
        return servers.stop();
      };
    }, 60_000);

    it('replicas see one record of a number, whichever replica writes it', async () => {
      const step = fc.record({
        replica: fc.integer({ min: 0, max: 2 }),
        does: fc.constantFrom('goes on', 'writes', 'writes', 'writes late', 'removes'),
        number: fc.constantFrom<PhoneNumber>(ALICE, BOB),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
          const all = replicas();
          for (const one of all) await one.consents.open();
          const written = new Map<PhoneNumber, string>();
          const outcomes: unknown[] = [];
          const expected: unknown[] = [];
          for (const [index, { replica, does, number }] of steps.entries()) {
            const one = all[replica];
            if (one === undefined) continue;
            const read = await one.consents.read(number);
            expect(read.record?.consent?.id).toBe(written.get(number));
            expect(read.doubtUntilMs).toBeUndefined();
            const next = consentNamed(`consent ${index}`, read.nowMs);
            switch (does) {
              case 'goes on':
                // The old key is dropped only when nothing sealed by it is left.
                if (one.phase < 2 && all.every(({ phase }) => phase >= one.phase)) await one.goOn();
                break;
              case 'writes late':
                // Another replica was first.
                for (const other of all) {
                  if (other === one) continue;
                  const { version } = await other.consents.read(number);
                  const first = consentNamed(`first ${index}`, read.nowMs);
                  await other.consents.write(number, version, first, KEEP_MS);
                  written.set(number, `first ${index}`);
                }
                outcomes.push(await one.consents.write(number, read.version, next, KEEP_MS));
                expected.push('conflict');
                break;
              case 'writes':
                outcomes.push(await one.consents.write(number, read.version, next, KEEP_MS));
                expected.push(WRITTEN);
                written.set(number, `consent ${index}`);
                break;
              case 'removes':
                await one.consents.remove(number, read.version);
                written.delete(number);
            }
          }
          expect(outcomes).toEqual(expected);
        }),
        { numRuns: inForm({ short: 8, long: 100 }) },
      );
    });

    it('records that are written again no longer need the old key', async () => {
      const [one] = replicas();
      const { version, nowMs } = await one.consents.read(ALICE);
      await one.consents.write(ALICE, version, consentNamed('kept', nowMs), KEEP_MS);
      await one.goOn();
      await one.goOn();
      const read = await one.consents.read(ALICE);
      expect(read.record?.consent?.id).toBe('kept');
      await one.consents.write(ALICE, read.version, consentNamed('again', nowMs), KEEP_MS);
      await one.goOn();
      expect((await one.consents.read(ALICE)).record?.consent?.id).toBe('again');
    });

    it('kept facts are returned once each, and stay marked as heard', async () => {
      const [one, other] = replicas();
      const callerKey = { caller: callerNamed('anna'), purpose: purposeNamed('fraud-prevention') };
      const leftAtMs = systemClock.monotonicMs();
      const fact = { ...checked(240, false), leftAtMs };
      await one.factCache.keep(callerKey, ALICE, { ...fact, isHeard: false });
      await goApart(one, other);
      expect((await other.factCache.recall(callerKey, ALICE, leftAtMs)).facts).toHaveLength(1);
      await one.factCache.keep(callerKey, ALICE, fact);
      await other.goOn();
      // It is too old for a later request, and no unheard copy is left beside it.
      const later = leftAtMs + KEEP_MS + 1;
      expect((await other.factCache.recall(callerKey, ALICE, later)).facts).toEqual([]);
      expect((await other.factCache.recall(callerKey, ALICE, leftAtMs)).facts).toHaveLength(1);
    });

    it('a refused number counts once, and a refused operation stays refused', async () => {
      const [one, other] = replicas();
      await one.refusals.refuse(ALICE, 'check', 2, KEEP_MS);
      await goApart(one, other);
      for (const replica of [one, other, one]) {
        await replica.refusals.refuse(ALICE, 'check', 2, KEEP_MS);
        expect(await refusedMs(replica)).toBe(0);
      }
      await other.refusals.refuse(BOB, 'check', 2, KEEP_MS);
      expect(await refusedMs(other)).toBeGreaterThan(0);
      for (const replica of [other, one]) {
        await replica.goOn();
        expect(await refusedMs(replica)).toBeGreaterThan(0);
      }
    });

    it('a key is in the same slot, whichever STATE_KEY names it', async () => {
      const callerKey = { caller: callerNamed('anna'), purpose: purposeNamed('fraud-prevention') };
      const earlier = new Set(await allKeys());
      for (const { consents, factCache, refusals } of [replicas()[0], replicas()[0]]) {
        await consents.open();
        const { version, nowMs } = await consents.read(CAROL);
        await consents.write(CAROL, version, consentNamed('one', nowMs), KEEP_MS);
        const fact = { ...checked(240, false), leftAtMs: systemClock.monotonicMs() };
        await factCache.keep(callerKey, CAROL, fact);
        await refusals.refuse(CAROL, 'check', 1, KEEP_MS);
      }
      const added = (await allKeys()).filter((key) => !earlier.has(key));
      const slots = (kind: string) =>
        added.filter((key) => key.includes(`:${kind}:`)).map((key) => slotOf(key));
      const ofNumber = slotOf(keyIn(bucketOfNumber(CAROL), 'consent-2', ''));
      expect(slots('consent-2')).toEqual([ofNumber, ofNumber]);
      expect(slots('facts-2')).toEqual([ofNumber, ofNumber]);
      const [first, second, ...further] = slots('refusals');
      expect([second, ...further]).toEqual([first]);
    });

    it.each<[string, Partial<QuotaSettings>, PhoneNumber]>([
      ['of one caller', { promptsPerHour: 2 }, '+447700900986' as PhoneNumber],
      ['of all callers', { promptsPerHourAllCallers: 2 }, '+447700900987' as PhoneNumber],
    ])('prompts to a number, %s, stay counted', async (_whose, limits, number) => {
      const [one, other] = replicas(limits);
      const prompt = (replica: Replica) => replica.count('prompt', number);
      expect(await prompt(one)).toMatchObject({ kind: 'within' });
      await goApart(one, other);
      expect(await prompt(other)).toMatchObject({ kind: 'within' });
      expect(await prompt(one)).toMatchObject({ kind: 'over', over: 'prompts' });
      await other.goOn();
      await one.goOn();
      expect(await prompt(one)).toMatchObject({ kind: 'over', over: 'prompts' });
    });

    it('a replica that starts warns of another one whose key it does not know', async () => {
      const [old, next, foreign] = [randomBytes(32), randomBytes(32), randomBytes(32)];
      const starts: readonly (readonly [StateKeys, warnings: number])[] = [
        [[old], 0],
        [[old, next], 0],
        [[next, old], 0],
        [[next], 0],
        [[foreign], 1],
        [[foreign], 0],
        [[next], 1],
      ];
      const warned: number[] = [];
      for (const [keys] of starts) {
        const log = new RecordedLog();
        await compareStateKeys(connection, new StateSeals(keys), log);
        warned.push(log.troubles.length);
      }
      expect(warned).toEqual(starts.map(([, warnings]) => warnings));
    });

    it('a number counts once against its caller’s quota', async () => {
      const [one, other] = replicas({ numbersPerHour: 1 });
      expect(await one.count('number', ALICE)).toMatchObject({ kind: 'within' });
      await goApart(one, other);
      for (const replica of [one, other]) {
        expect(await replica.count('number', ALICE)).toMatchObject({ kind: 'within' });
      }
    });
  },
);
