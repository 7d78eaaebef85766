import fc from 'fast-check';
import { expect, it } from 'vitest';
import { history } from './history.ts';
import { inMemory, inReplicas } from './places.ts';
import { runHistory } from './runHistory.ts';

it.each([
  ['one process', inMemory],
  ['three replicas on one store', inReplicas],
])(
  'in %s every history of requests about a number ends, with each request answered in time, one prompt at a time, and none without need',
  async (_, placeOf) => {
    await fc.assert(
      fc.asyncProperty(history, async (one) => {
        const { wrong } = await runHistory(one, placeOf);
        expect(Object.entries<number>(wrong).filter(([, count]) => count > 0)).toEqual([]);
      }),
      // `npm run long -- histories` has many more.
      { numRuns: 60 },
    );
  },
  300_000,
);
