import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { history } from './history.ts';
import { inMemory, inReplicas } from './places.ts';
import { runHistory, type Wrongness } from './runHistory.ts';

const USAGE = `npm run consent-histories -- [--histories N] [--seed S]
  --histories  how many happen in each kind of store (100000)
  --seed       an integer; the same seed makes the same histories
`;

const PLACES = [
  ['one process', inMemory],
  ['three replicas on one store', inReplicas],
] as const;

const { values } = parseArgs({
  options: { histories: { type: 'string', default: '100000' }, seed: { type: 'string' } },
});
const numRuns = Number(values.histories);
const seed = values.seed === undefined ? undefined : Number(values.seed);
if (!Number.isInteger(numRuns) || numRuns < 1 || (seed !== undefined && !Number.isInteger(seed))) {
  process.stderr.write(USAGE);
  process.exit(1);
}

for (const [place, placeOf] of PLACES) {
  const startedAtMs = performance.now();
  const totals = new Map<string, number>();
  const property = fc.asyncProperty(history, async (one) => {
    const wrong = await runHistory(one, placeOf(one));
    add(totals, wrong);
    return Object.values<number>({ ...wrong }).every((count) => count === 0);
  });
  const details = await fc.check(property, { numRuns, ...(seed === undefined ? {} : { seed }) });
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(0);
  process.stdout.write(
    `${place}: ${details.numRuns} histories (seed ${details.seed}, ${seconds} s)\n`,
  );
  for (const [name, count] of totals) {
    process.stdout.write(`    ${name.padEnd(34)} ${count}\n`);
  }
  if (details.failed) {
    process.stdout.write(`WRONG: ${JSON.stringify(details.counterexample)}\n`);
    if (details.errorInstance instanceof Error) {
      process.stdout.write(`${details.errorInstance.stack ?? ''}\n`);
    }
    process.exitCode = 1;
  }
}
process.stdout.write(process.exitCode === 1 ? 'WRONG\n' : 'nothing wrong\n');

function add(totals: Map<string, number>, wrong: Wrongness): void {
  for (const [name, count] of Object.entries<number>({ ...wrong })) {
    totals.set(name, (totals.get(name) ?? 0) + count);
  }
}
