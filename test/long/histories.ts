import fc from 'fast-check';
import { history } from '../consentHistories/history.ts';
import { inMemory, inReplicas } from '../consentHistories/places.ts';
import { runHistory } from '../consentHistories/runHistory.ts';
import { history as factHistory } from '../factHistories/history.ts';
import { runHistory as runFactHistory } from '../factHistories/runHistory.ts';
import { Counts } from './counts.ts';
import { count, longRun, report, secondsSince, seed, wrongIf, type Verdict } from './longRun.ts';

const PLACES = [
  ['one process', inMemory],
  ['three replicas on one store', inReplicas],
] as const;

export const histories = longRun({
  about: 'random requests about a number and its consent, in virtual time',
  options: {
    histories: count('how many happen in each kind of store', 100_000),
    seed: seed('the same histories'),
  },
  short: ['--histories', '2000'],
  async *run({ histories: numRuns, seed: used }) {
    for (const [place, placeOf] of PLACES) {
      yield await anyHistory(place, { numRuns, seed: used }, (tally) =>
        fc.asyncProperty(history, async (one) => {
          const { wrong, challenges } = await runHistory(one, placeOf);
          return tally({ challenges }, { ...wrong });
        }),
      );
    }
  },
});

export const facts = longRun({
  about: 'random requests about lines that are swapped meanwhile, in virtual time',
  options: {
    histories: count('how many happen', 100_000),
    seed: seed('the same histories'),
  },
  short: ['--histories', '2000'],
  async *run({ histories: numRuns, seed: used }) {
    yield await anyHistory('one process', { numRuns, seed: used }, (tally) =>
      fc.asyncProperty(factHistory, async (one) => {
        const { falses, toldAgain, lookups: _lookups, ...wrong } = await runFactHistory(one);
        return tally({ falses, toldAgain }, { ...wrong });
      }),
    );
  },
});

/** Adds the result of one history; returns whether nothing in it is wrong. */
type Tally = (counted: Times, wrong: Times) => boolean;

type Times = Readonly<Record<string, number>>;

/** Runs so many histories and reports the first that is wrong. */
async function anyHistory<T>(
  place: string,
  parameters: { readonly numRuns: number; readonly seed: number },
  propertyOf: (tally: Tally) => fc.IAsyncProperty<T>,
): Promise<Verdict> {
  const startedAtMs = performance.now();
  const totals = new Counts();
  const tally: Tally = (counted, wrong) => {
    for (const [name, times] of Object.entries(counted)) totals.add(name, times);
    for (const [name, times] of Object.entries(wrong)) totals.add(`wrong: ${name}`, times);
    return Object.values(wrong).every((times) => times === 0);
  };
  const details = await fc.check(propertyOf(tally), parameters);
  report(`${place}: ${details.numRuns} histories (${secondsSince(startedAtMs)})`, totals);
  if (details.failed) {
    process.stdout.write(`${JSON.stringify(details.counterexample)}\n`);
    if (details.errorInstance instanceof Error) {
      process.stdout.write(`${details.errorInstance.stack ?? ''}\n`);
    }
  }
  return wrongIf(details.failed);
}
