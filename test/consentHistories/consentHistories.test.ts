import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { connectionTo, NO_REDIS, startRedis } from '../redisServer.ts';
import { history, type History } from './history.ts';
import { inMemory, inRedis, inReplicas } from './places.ts';
import { runHistory, type Wrongness } from './runHistory.ts';

function wrongIn(wrong: Wrongness): readonly (readonly [string, number])[] {
  return Object.entries<number>({ ...wrong }).filter(([, count]) => count > 0);
}

describe.each([
  ['one process', inMemory],
  ['three replicas on one store', inReplicas],
])('any history of requests about a number, in %s', (_, placeOf) => {
  it('ends, with an answer to each request in time, one prompt at a time, and none without need', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (one) => {
        expect(wrongIn(await runHistory(one, placeOf(one)))).toEqual([]);
      }),
      // `npm run long -- histories` has many more.
      { numRuns: 100 },
    );
  }, 300_000);
});

/** What happens in some seconds. */
function shortened(one: History): History {
  return {
    ...one,
    asks: one.asks.map((ask) => ({
      ...ask,
      atMs: ask.atMs % 3000,
      patienceMs: Math.min(ask.patienceMs, 3000),
    })),
    latenciesMs: one.latenciesMs.map((ms) => Math.min(ms, 400)),
    restarts: one.restarts.map((restart) => ({ ...restart, atMs: restart.atMs % 3000 })),
  };
}

describe('histories in three replicas on a Redis', () => {
  it.skipIf(NO_REDIS !== undefined)(
    'end as they do on a clock that is handed in',
    async () => {
      const redis = await startRedis();
      const connections = [1, 2, 3].map(() => connectionTo(redis.url));
      try {
        await Promise.all(connections.map((connection) => connection.open()));
        const placeOf = await inRedis(connections);
        const wrong = await Promise.all(
          fc.sample(history, 40).map(async (one, i) => {
            const number = `+447700900${String(i).padStart(3, '0')}` as PhoneNumber;
            return wrongIn(await runHistory(shortened(one), placeOf(number)));
          }),
        );
        expect(wrong.flat()).toEqual([]);
      } finally {
        for (const connection of connections) connection.close();
        await redis.kill();
      }
    },
    120_000,
  );
});
