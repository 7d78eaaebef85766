import fc from 'fast-check';
import { history } from '../factHistories/history.ts';
import { runHistory } from '../factHistories/runHistory.ts';
import { anyHistory } from './anyHistory.ts';
import { count, flag, longRun, seed } from './longRun.ts';

export const facts = longRun({
  about: 'answers about lines that are swapped meanwhile, on a clock of their own',
  options: {
    histories: count('how many happen', 100_000),
    seed: seed('the same histories'),
    'go-on': flag('counts what is wrong in all of them, in place of showing the first'),
  },
  short: ['--histories', '20000'],
  async run({ histories: numRuns, seed: used, 'go-on': goesOn }) {
    const isWrong = await anyHistory('one process', { numRuns, seed: used }, (tally) =>
      fc.asyncProperty(history, async (one) => {
        const { falses, toldAgain, lookups: _lookups, ...wrong } = await runHistory(one);
        return tally({ falses, toldAgain }, { ...wrong }) || goesOn;
      }),
    );
    return isWrong ? 'WRONG' : 'nothing wrong';
  },
});
