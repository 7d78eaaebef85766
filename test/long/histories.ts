import fc from 'fast-check';
import { history } from '../consentHistories/history.ts';
import { inMemory, inReplicas } from '../consentHistories/places.ts';
import { runHistory } from '../consentHistories/runHistory.ts';
import { anyHistory } from './anyHistory.ts';
import { count, longRun, seed } from './longRun.ts';

const PLACES = [
  ['one process', inMemory],
  ['three replicas on one store', inReplicas],
] as const;

export const histories = longRun({
  about: 'requests about a number and its consent, on a clock of their own',
  options: {
    histories: count('how many happen in each kind of store', 100_000),
    seed: seed('the same histories'),
  },
  short: ['--histories', '5000'],
  async run({ histories: numRuns, seed: used }) {
    let isWrong = false;
    for (const [place, placeOf] of PLACES) {
      const wrong = await anyHistory(place, { numRuns, seed: used }, (tally) =>
        fc.asyncProperty(history, async (one) =>
          tally({}, { ...(await runHistory(one, placeOf(one))) }),
        ),
      );
      isWrong ||= wrong;
    }
    return isWrong ? 'WRONG' : 'nothing wrong';
  },
});
