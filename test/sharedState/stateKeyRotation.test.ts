import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Quotas, type QuotaSettings } from '../../src/caller/quotas/quotas.ts';
import { SharedCounts } from '../../src/caller/quotas/sharedCounts.ts';
import { readConfig } from '../../src/config/config.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { RedisFactCache } from '../../src/lookups/redisFactCache.ts';
import type { Redis } from '../../src/sharedState/redis.ts';
import { StateSeals, type StateKeys } from '../../src/sharedState/stateSeals.ts';
import { systemClock } from '../../src/system/systemClock.ts';
import { requested, type ConsentRecord } from '../../src/consents/consentRecord.ts';
import { RedisConsentStore } from '../../src/consents/redisConsentStore.ts';
import { inForm } from '../forms.ts';
import { connectionTo, NO_REDIS, startRedis, type RedisServer } from '../redisServer.ts';
import { ALICE, BOB, callerNamed, checked, hours } from '../values.ts';
import { silentLog } from '../silentLog.ts';
import { RULES } from '../consents/records.ts';

const OLD = randomBytes(32);
const NEW = randomBytes(32);

/** What STATE_KEY is in turn; a replica goes on once all others have come as far as it has. */
const PHASES: readonly StateKeys[] = [[OLD], [OLD, NEW], [NEW, OLD], [NEW]];

const KEEP_MS = 60_000;
/** What a write comes to that is the first. */
const WRITTEN = { version: expect.any(Number) as number };

let redis: RedisServer | undefined;
let connection: Redis;

beforeAll(async () => {
  if (NO_REDIS !== undefined) return;
  redis = await startRedis();
  connection = connectionTo(redis.url);
  await connection.open();
});

afterAll(async () => {
  if (redis === undefined) return;
  connection.close();
  await redis.kill();
});

/** One replica: with each phase it is another process, which keeps nothing to itself. */
class Replica {
  consents!: RedisConsentStore;
  factCache!: RedisFactCache;
  quotas!: Quotas;
  phase = 0;
  readonly #operator: string;
  readonly #limits: Partial<QuotaSettings>;

  constructor(operator: string, limits: Partial<QuotaSettings>) {
    this.#operator = operator;
    this.#limits = limits;
    this.restart([OLD]);
  }

  restart(keys: StateKeys): void {
    const operator = this.#operator;
    const seals = new StateSeals(keys);
    const doubtMs = RULES.doubtMs;
    this.consents = new RedisConsentStore(connection, systemClock, { seals, operator, doubtMs });
    const kept = { keepMs: KEEP_MS, resultMs: KEEP_MS };
    this.factCache = new RedisFactCache(connection, systemClock, { ...kept, seals, operator });
    const counts = new SharedCounts(connection, seals, systemClock, silentLog);
    this.quotas = new Quotas(
      { ...readConfig({}).quotas, promptsPerHourAllCallers: 9, promptsPerHour: 9, ...this.#limits },
      counts,
      [operator],
    );
  }

  async goOn(): Promise<void> {
    this.phase += 1;
    this.restart(PHASES[this.phase] ?? [NEW]);
    await this.consents.open();
  }
}

let operators = 0;

/** Replicas of one service, whose operator is theirs alone. */
function replicas(count: number, limits: Partial<QuotaSettings> = {}): readonly Replica[] {
  operators += 1;
  const operator = `operator ${operators}`;
  return Array.from({ length: count }, () => new Replica(operator, limits));
}

function consentNamed(id: string, nowMs: number): ConsentRecord {
  const lookup = { operation: 'check', maxAgeHours: hours(240) } as const;
  return { ends: [], consent: requested({ id, asker: 'anna', lookup }, nowMs, RULES) };
}

describe.skipIf(NO_REDIS !== undefined)('while one STATE_KEY takes the place of another', () => {
  it('replicas see one record of a number, whichever of them writes it', async () => {
    const step = fc.record({
      replica: fc.integer({ min: 0, max: 2 }),
      does: fc.constantFrom('goes on', 'writes', 'writes', 'writes late', 'removes'),
      number: fc.constantFrom<PhoneNumber>(ALICE, BOB),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const all = replicas(3);
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
              // The old key is dropped once nothing is left that it has sealed.
              if (one.phase < 2 && all.every(({ phase }) => phase >= one.phase)) await one.goOn();
              break;
            case 'writes late':
              // Another one was first.
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
      { numRuns: inForm({ short: 8, long: 300 }) },
    );
  });

  it('nothing is left that only the old key opens', async () => {
    const [one] = replicas(1);
    if (one === undefined) return;
    const { version, nowMs } = await one.consents.read(ALICE);
    await one.consents.write(ALICE, version, consentNamed('kept', nowMs), KEEP_MS);
    await one.goOn();
    await one.goOn();
    const read = await one.consents.read(ALICE);
    expect(read.record?.consent?.id).toBe('kept');
    await one.consents.write(ALICE, read.version, consentNamed('anew', nowMs), KEEP_MS);
    await one.goOn();
    expect((await one.consents.read(ALICE)).record?.consent?.id).toBe('anew');
  });

  it('facts that are kept are told, once each, and heard ones are known to be heard', async () => {
    const [one, other] = replicas(2);
    if (one === undefined || other === undefined) return;
    const asker = { caller: callerNamed('anna'), purpose: 'fraud-prevention' };
    const leftAtMs = systemClock.monotonicMs();
    const fact = { ...checked(240, false), leftAtMs };
    await one.factCache.keep(asker, ALICE, { ...fact, isHeard: false });
    await one.goOn();
    await other.goOn();
    await one.goOn();
    expect((await other.factCache.recall(asker, ALICE, leftAtMs)).facts).toHaveLength(1);
    await one.factCache.keep(asker, ALICE, fact);
    await other.goOn();
    // Heard, and too old for a request that comes later: nothing unheard is left beside it.
    const later = leftAtMs + KEEP_MS + 1;
    expect((await other.factCache.recall(asker, ALICE, later)).facts).toEqual([]);
    expect((await other.factCache.recall(asker, ALICE, leftAtMs)).facts).toHaveLength(1);
  });

  it.each<[string, Partial<QuotaSettings>, PhoneNumber]>([
    ['of one caller', { promptsPerHour: 2 }, '+447700900986' as PhoneNumber],
    ['of all callers', { promptsPerHourAllCallers: 2 }, '+447700900987' as PhoneNumber],
  ])('the prompts to a number %s stay counted', async (_whose, limits, number) => {
    const [one, other] = replicas(2, limits);
    if (one === undefined || other === undefined) return;
    const prompt = ({ quotas }: Replica) => quotas.countPrompt(callerNamed('anna'), number, 1000);
    expect(await prompt(one)).toMatchObject({ kind: 'within' });
    await one.goOn();
    await other.goOn();
    await one.goOn();
    expect(await prompt(other)).toMatchObject({ kind: 'within' });
    expect(await prompt(one)).toMatchObject({ kind: 'over', over: 'prompts' });
    await other.goOn();
    await one.goOn();
    expect(await prompt(one)).toMatchObject({ kind: 'over', over: 'prompts' });
  });

  it('a number counts once against its caller’s quota', async () => {
    const [one, other] = replicas(2, { numbersPerHour: 1 });
    if (one === undefined || other === undefined) return;
    const anna = callerNamed('anna');
    expect(await one.quotas.countNumber(anna, ALICE, 1000)).toMatchObject({ kind: 'within' });
    await one.goOn();
    await other.goOn();
    await one.goOn();
    for (const { quotas } of [one, other]) {
      expect(await quotas.countNumber(anna, ALICE, 1000)).toMatchObject({ kind: 'within' });
    }
  });
});
