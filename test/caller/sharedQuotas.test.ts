import { expect, it } from 'vitest';
import { NO_REDIS, startRedis } from '../redisServer.ts';
import { TestIssuer } from './testIssuer.ts';
import { startService } from './testService.ts';

const QUOTA = 5;
const numbers = Array.from({ length: 20 }, (_, n) => `+4477009005${String(n).padStart(2, '0')}`);

it.skipIf(NO_REDIS !== undefined)(
  `one caller's scan costs its quota over all replicas ${NO_REDIS ?? ''}`,
  async () => {
    const redis = await startRedis();
    const issuer = await TestIssuer.start();
    const settings = {
      ...issuer.settings,
      REDIS_URL: redis.url,
      STATE_KEY: Buffer.alloc(32, 1).toString('base64'),
      QUOTA_LOOKUPS_PER_HOUR: String(QUOTA),
    };
    const replicas = await Promise.all([startService(settings), startService(settings)]);
    try {
      const token = await issuer.token({ sub: 'risk', scope: 'sim-swap:read' });
      const headers = { authorization: `Bearer ${token}` };
      const query = 'query ($e164s: [ID!]!) { phoneNumbers(e164s: $e164s) { simSwappedWithin } }';
      const replies = await Promise.all(
        replicas.map((replica) => replica.ask(query, headers, { e164s: numbers })),
      );
      const lookups = replicas.map(({ simulator }) => simulator.stats().lookups);
      expect(lookups.reduce((sum, one) => sum + one, 0)).toBe(QUOTA);
      expect(new Set(replies.flatMap(({ codes }) => codes))).toEqual(new Set(['RATE_LIMITED']));
    } finally {
      await Promise.all(replicas.map((replica) => replica.stop()));
      await issuer.close();
      await redis.kill();
    }
  },
);
