import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inForm } from '../forms.ts';
import { history } from './history.ts';
import { inMemory, inReplicas } from './places.ts';
import { runHistory } from './runHistory.ts';

describe.each([
  ['one process', inMemory],
  ['three replicas on one store', inReplicas],
])('any history of requests about a number, in %s', (_, placeOf) => {
  it('ends, with an answer to each request in time, one prompt at a time, and none without need', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (one) => {
        const wrong = await runHistory(one, placeOf(one));
        expect(Object.entries(wrong).filter(([, count]) => count > 0)).toEqual([]);
      }),
      { numRuns: inForm({ short: 200, long: 1000 }) },
    );
  }, 300_000);
});
