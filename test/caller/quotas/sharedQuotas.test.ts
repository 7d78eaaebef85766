import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Environment } from '../../../src/config/environment.ts';
import {
  freshStateKey,
  NO_REDIS,
  startRedis,
  type RedisServer,
} from '../../support/redisServer.ts';
import { RedisProxy } from '../../support/redisProxy.ts';
import { TestIssuer } from '../testIssuer.ts';
import { startSimulated, type Reply, type SimulatedService } from '../../support/service.ts';

const SCAN = 'query ($e164s: [ID!]!) { phoneNumbers(e164s: $e164s) { simSwappedWithin } }';
const scanned = Array.from({ length: 20 }, (_, n) => `+4477009005${String(n).padStart(2, '0')}`);

const issuer = await TestIssuer.start();
const token = await issuer.token({ sub: 'risk', scope: 'sim-swap:read' });
const authorization = `Bearer ${token}`;
afterAll(() => issuer.close());

describe.skipIf(NO_REDIS !== undefined)(`counts that replicas share ${NO_REDIS ?? ''}`, () => {
  let redis: RedisServer;
  let replicas: SimulatedService[];

  beforeAll(async () => {
    redis = await startRedis();
    return () => redis.kill();
  });
  afterEach(async () => {
    redis.thaw();
    await Promise.all(replicas.map((replica) => replica.stop()));
  });

  async function start(count: number, settings: Environment): Promise<void> {
    const shared = { ...issuer.settings, REDIS_URL: redis.url, STATE_KEY: freshStateKey() };
    replicas = await Promise.all(
      Array.from({ length: count }, () => startSimulated({ ...shared, ...settings })),
    );
  }

  function ask(e164s: readonly string[], replica = 0): Promise<Reply> {
    const service = replicas[replica];
    if (service === undefined) throw new Error('There is no such replica.');
    return service.ask(SCAN, { e164s }, { authorization });
  }

  it('count a number once, however many requests query it at the same time', async () => {
    await start(2, { QUOTA_NUMBERS_PER_HOUR: '2' });
    const one = scanned.slice(0, 1);
    const replies = await Promise.all(Array.from({ length: 40 }, (_, n) => ask(one, n % 2)));
    expect(replies.flatMap(({ codes }) => codes)).toEqual([]);
    expect((await ask(scanned.slice(1, 2))).codes).toEqual([]);
    expect((await ask(scanned.slice(2, 3))).codes).toEqual(['RATE_LIMITED']);
  });

  it('end one caller’s scan after the quota of its client, over all replicas', async () => {
    await start(2, { QUOTA_LOOKUPS_PER_HOUR: '5', QUOTA_CLIENTS: '{"app":{"lookupsPerHour":8}}' });
    const replies = await Promise.all([ask(scanned, 0), ask(scanned, 1)]);
    const lookups = replicas.map(({ simulator }) => simulator.stats().lookups);
    expect(lookups.reduce((sum, one) => sum + one, 0)).toBe(8);
    expect(new Set(replies.flatMap(({ codes }) => codes))).toEqual(new Set(['RATE_LIMITED']));
    for (const { headers } of replies) {
      expect(headers.get('ratelimit-policy')).toContain('"lookups";q=8;');
      expect(headers.get('ratelimit')).toContain('"lookups";r=0;');
    }
  });

  it('take a few scripts for a list of a hundred numbers, whose headers come from them', async () => {
    const proxy = await RedisProxy.before(redis.port);
    onTestFinished(() => proxy.close());
    await start(1, {
      REDIS_URL: proxy.url,
      REQUEST_TIMEOUT_MS: '60000',
      OPERATOR_TIMEOUT_MS: '20000',
    });
    const hundred = Array.from(
      { length: 100 },
      (_, n) => `+4477009005${String(n).padStart(2, '0')}`,
    );
    const before = proxy.scripts;
    const { codes, headers } = await ask(hundred);
    expect([codes, headers.get('ratelimit')?.replaceAll(/t=\d+/g, 't')]).toEqual([
      [],
      '"numbers";r=9900;t, "lookups";r=49900;t;counted=100',
    ]);
    expect(proxy.scripts - before).toBeLessThanOrEqual(6);
  });

  it('hold up only the first request while Redis is frozen, and no operator gets the blame', async () => {
    await start(1, { REQUEST_TIMEOUT_MS: '900' });
    expect((await ask(scanned.slice(0, 1))).codes).toEqual([]);
    redis.freeze();
    // If each waited for Redis, they would take more than ten seconds.
    const startedAtMs = performance.now();
    for (let n = 0; n < 30; n += 1) expect((await ask(scanned.slice(0, 5))).codes).toEqual([]);
    expect(performance.now() - startedAtMs).toBeLessThan(9000);
  }, 30_000);
});
