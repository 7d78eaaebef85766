import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { history } from './history.ts';
import { runHistory, type Verdict } from './runHistory.ts';

const USAGE = `npm run fact-histories -- [--histories N] [--seed S] [--go-on]
  --histories  how many happen (100000)
  --seed       an integer; the same seed makes the same histories
  --go-on      counts what is wrong in all of them, in place of showing the first
`;

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '100000' },
    seed: { type: 'string' },
    'go-on': { type: 'boolean', default: false },
  },
});
const numRuns = Number(values.histories);
const seed = values.seed === undefined ? undefined : Number(values.seed);
if (!Number.isInteger(numRuns) || numRuns < 1 || (seed !== undefined && !Number.isInteger(seed))) {
  process.stderr.write(USAGE);
  process.exit(1);
}

const totals: Totals = { falses: 0, wrongFalses: 0, withoutAnswer: 0, tooManyLookups: 0 };
type Totals = Omit<Verdict, 'lookups'>;

const startedAtMs = performance.now();
const property = fc.asyncProperty(history, async (one) => {
  const { falses, lookups: _lookups, ...wrong } = await runHistory(one);
  totals.falses += falses;
  totals.wrongFalses += wrong.wrongFalses;
  totals.withoutAnswer += wrong.withoutAnswer;
  totals.tooManyLookups += wrong.tooManyLookups;
  return values['go-on'] || Object.values(wrong).every((count) => count === 0);
});
const details = await fc.check(property, { numRuns, ...(seed === undefined ? {} : { seed }) });
const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(0);
process.stdout.write(`${details.numRuns} histories (seed ${details.seed}, ${seconds} s)\n`);
for (const [name, count] of Object.entries(totals)) {
  process.stdout.write(`    ${name.padEnd(34)} ${count}\n`);
}
if (details.failed) {
  process.stdout.write(`WRONG: ${JSON.stringify(details.counterexample)}\n`);
  if (details.errorInstance instanceof Error) {
    process.stdout.write(`${details.errorInstance.stack ?? ''}\n`);
  }
  process.exitCode = 1;
}
if (totals.wrongFalses + totals.withoutAnswer + totals.tooManyLookups > 0) process.exitCode = 1;
process.stdout.write(process.exitCode === 1 ? 'WRONG\n' : 'nothing wrong\n');
