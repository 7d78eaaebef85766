import fc from 'fast-check';
import { report, secondsSince } from './longRun.ts';

/** Adds what one history came to; whether nothing in it is wrong. */
type Tally = (counted: Counts, wrong: Counts) => boolean;

type Counts = Readonly<Record<string, number>>;

/** Lets so many histories happen and reports them, with the first that is wrong; whether any is. */
export async function anyHistory<T>(
  place: string,
  parameters: { readonly numRuns: number; readonly seed: number },
  propertyOf: (tally: Tally) => fc.IAsyncProperty<T>,
): Promise<boolean> {
  const startedAtMs = performance.now();
  const totals = new Map<string, number>();
  const add = (counts: readonly (readonly [string, number])[]): number =>
    counts.reduce((sum, [name, count]) => {
      totals.set(name, (totals.get(name) ?? 0) + count);
      return sum + count;
    }, 0);
  let wrongs = 0;
  const tally: Tally = (counted, wrong) => {
    add(Object.entries(counted));
    const found = add(Object.entries(wrong).map(([name, count]) => [`wrong: ${name}`, count]));
    wrongs += found;
    return found === 0;
  };
  const details = await fc.check(propertyOf(tally), parameters);
  report(`${place}: ${details.numRuns} histories (${secondsSince(startedAtMs)})`, totals);
  if (details.failed) {
    process.stdout.write(`${JSON.stringify(details.counterexample)}\n`);
    if (details.errorInstance instanceof Error) {
      process.stdout.write(`${details.errorInstance.stack ?? ''}\n`);
    }
  }
  return details.failed || wrongs > 0;
}
