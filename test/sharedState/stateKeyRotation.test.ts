import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Quotas } from '../../src/caller/quotas/quotas.ts';
import { SharedCounts } from '../../src/caller/quotas/sharedCounts.ts';
import { readConfig } from '../../src/config.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { RedisKeptFacts } from '../../src/lookups/redisKeptFacts.ts';
import type { RedisConnection } from '../../src/sharedState/redisConnection.ts';
import { StateSeals, type StateKeys } from '../../src/sharedState/stateSeals.ts';
import { systemClock } from '../../src/systemClock.ts';
import { requested, type ConsentRecord } from '../../src/tokens/consents/consentRecord.ts';
import { RedisConsentStore } from '../../src/tokens/consents/redisConsentStore.ts';
import { inForm } from '../forms.ts';
import { connectionTo, NO_REDIS, startRedis, type RedisServer } from '../redisServer.ts';
import { ALICE, BOB, callerNamed, checked, hours } from '../values.ts';
import { silentLog } from '../silentLog.ts';
import { RULES } from '../tokens/consents/records.ts';

const OLD = randomBytes(32);
const NEW = randomBytes(32);

/** What STATE_KEY is in turn; a replica goes on once all others have come as far as it has. */
const PHASES: readonly StateKeys[] = [[OLD], [OLD, NEW], [NEW, OLD], [NEW]];

const KEEP_MS = 60_000;
/** What a write comes to that is the first. */
const WRITTEN = { version: expect.any(Number) as number };

let redis: RedisServer | undefined;
let connection: RedisConnection;

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

/** One process: its keys change while it runs. */
class Replica {
  readonly seals = new StateSeals([OLD]);
  readonly consents: RedisConsentStore;
  readonly keptFacts: RedisKeptFacts;
  readonly quotas: Quotas;
  phase = 0;

  constructor(operator: string) {
    const { seals } = this;
    const doubtMs = RULES.doubtMs;
    this.consents = new RedisConsentStore(connection, systemClock, { seals, operator, doubtMs });
    const kept = { keepMs: KEEP_MS, resultMs: KEEP_MS };
    this.keptFacts = new RedisKeptFacts(connection, systemClock, { ...kept, seals, operator });
    const counts = new SharedCounts(connection, seals, systemClock, silentLog);
    this.quotas = new Quotas(
      { ...readConfig({}).quotas, promptsPerHourAllCallers: 2, promptsPerHour: 9 },
      counts,
      [operator],
    );
  }

  goOn(): void {
    this.phase += 1;
    this.seals.renew(PHASES[this.phase] ?? [NEW]);
  }
}

let operators = 0;

/** Replicas of one service, whose operator is theirs alone. */
function replicas(count: number): readonly Replica[] {
  operators += 1;
  const operator = `operator ${operators}`;
  return Array.from({ length: count }, () => new Replica(operator));
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
              if (one.phase < 2 && all.every(({ phase }) => phase >= one.phase)) one.goOn();
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
    one.goOn();
    one.goOn();
    const read = await one.consents.read(ALICE);
    expect(read.record?.consent?.id).toBe('kept');
    await one.consents.write(ALICE, read.version, consentNamed('anew', nowMs), KEEP_MS);
    one.goOn();
    expect((await one.consents.read(ALICE)).record?.consent?.id).toBe('anew');
  });

  it('a key that is exchanged in one step prompts no owner in doubt', async () => {
    const [one] = replicas(1);
    if (one === undefined) return;
    await one.consents.open();
    one.seals.renew([NEW]);
    expect((await one.consents.read(ALICE)).doubtUntilMs).toBeGreaterThan(0);
  });

  it('facts that are kept are told, once each, and heard ones are known to be heard', async () => {
    const [one, other] = replicas(2);
    if (one === undefined || other === undefined) return;
    const asker = { caller: callerNamed('anna'), purpose: 'fraud-prevention' };
    const leftAtMs = systemClock.monotonicMs();
    const fact = { ...checked(240, false), leftAtMs };
    await one.keptFacts.keep(asker, ALICE, fact, false);
    one.goOn();
    other.goOn();
    one.goOn();
    expect(await other.keptFacts.recall(asker, ALICE, leftAtMs)).toHaveLength(1);
    await one.keptFacts.keep(asker, ALICE, fact, true);
    other.goOn();
    // Heard, and too old for a request that comes later: nothing unheard is left beside it.
    const later = leftAtMs + KEEP_MS + 1;
    expect(await other.keptFacts.recall(asker, ALICE, later)).toEqual([]);
    expect(await other.keptFacts.recall(asker, ALICE, leftAtMs)).toHaveLength(1);
  });

  it('the prompts to a number stay counted', async () => {
    const [one, other] = replicas(2);
    if (one === undefined || other === undefined) return;
    const number = '+447700900987' as PhoneNumber;
    const prompt = ({ quotas }: Replica) => quotas.countPrompt(callerNamed('anna'), number, 1000);
    expect(await prompt(one)).toMatchObject({ kind: 'within' });
    one.goOn();
    other.goOn();
    one.goOn();
    expect(await prompt(other)).toMatchObject({ kind: 'within' });
    expect(await prompt(one)).toMatchObject({ kind: 'over', over: 'prompts' });
    other.goOn();
    one.goOn();
    expect(await prompt(one)).toMatchObject({ kind: 'over', over: 'prompts' });
  });
});
