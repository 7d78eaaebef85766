import { inspect, parseArgs } from 'node:util';
import { chaos } from './chaos.ts';
import { consentChaos } from './consentChaos.ts';
import { crowds } from './crowds.ts';
import { floods } from './floods.ts';
import { fuzz } from '../fuzz/fuzz.ts';
import { NotInTime } from '../support/redisCommands.ts';
import { NO_REDIS } from '../support/redisServer.ts';
import { facts, histories } from './histories.ts';
import { circumstances, secondsSince, VERDICTS, type LongRun, type Verdict } from './longRun.ts';
import { onePrompt } from './onePrompt.ts';
import { redisFaults } from './redisFaults.ts';
import { mutation } from './mutation.ts';
import { scale } from './scale.ts';
import { soak } from './soak.ts';
import ownTemporaryFolder from '../support/temporary.ts';

const RUNS: Readonly<Record<string, LongRun>> = {
  chaos,
  fuzz,
  soak,
  histories,
  facts,
  'consent-chaos': consentChaos,
  'one-prompt': onePrompt,
  'redis-faults': redisFaults,
  scale,
  crowds,
  floods,
  mutants: mutation,
};

const ALL_RUNS = `npm run long -- RUN [--OPTION VALUE …]
${Object.entries(RUNS)
  .map(([each, { about }]) => `  ${each.padEnd(14)} ${about}\n`)
  .join('')}  short          the short form of each; of some: short RUN … or short -RUN …
  RUN --help     its options

Ends with 0 when nothing is wrong, 1 when something is, and 2 when the machine was too busy to tell.
`;

const EXIT_CODES: Readonly<Record<Verdict, number>> = {
  'nothing wrong': 0,
  WRONG: 1,
  INCONCLUSIVE: 2,
};

ownTemporaryFolder();
const [name = '', ...words] = process.argv.slice(2);
if (name === 'short') {
  const verdicts: Verdict[] = [];
  for (const [each, { short }] of Object.entries(RUNS)) {
    if (short === undefined || !isChosen(each)) continue;
    const verdict = await carriedOut(each, short);
    // The machine may be idle by now.
    verdicts.push(verdict === 'INCONCLUSIVE' ? await carriedOut(each, short) : verdict);
  }
  process.exitCode = Math.max(...verdicts.map((verdict) => EXIT_CODES[verdict]));
} else {
  process.exitCode = EXIT_CODES[await carriedOut(name, words)];
}

/** Of `short`: all, the named ones, or all but those named with a hyphen. */
function isChosen(each: string): boolean {
  if (words[0]?.startsWith('-') === true) return !words.includes(`-${each}`);
  return words.length === 0 || words.includes(each);
}

async function carriedOut(runName: string, args: readonly string[]): Promise<Verdict> {
  const run = RUNS[runName];
  const values = run && valuesOf(run, args);
  if (run === undefined || values === undefined) {
    process.stderr.write(run === undefined ? ALL_RUNS : usageOf(runName, run));
    return 'WRONG';
  }
  const called = [runName, ...args].join(' ');
  process.stdout.write(`\n== ${called}, ${circumstances()}\n`);
  const startedAtMs = performance.now();
  const verdict = await verdictOf(run, values);
  const seed = 'seed' in values ? `, seed ${String(values['seed'])}` : '';
  process.stdout.write(`${called}${seed}: ${verdict} (${secondsSince(startedAtMs)})\n`);
  return verdict;
}

async function verdictOf(run: LongRun, values: Record<string, unknown>): Promise<Verdict> {
  if (run.needsRedis === true && NO_REDIS !== undefined) {
    process.stdout.write(`${NO_REDIS}\n`);
    return 'nothing wrong';
  }
  let worst: Verdict = 'nothing wrong';
  const find = (found: Verdict): void => {
    if (VERDICTS.indexOf(found) > VERDICTS.indexOf(worst)) worst = found;
  };
  try {
    for await (const found of run.run(values)) find(found);
  } catch (error) {
    const isBusy = error instanceof NotInTime;
    process.stdout.write(
      isBusy ? `${error.message} The machine is too busy.\n` : `${inspect(error)}\n`,
    );
    find(isBusy ? 'INCONCLUSIVE' : 'WRONG');
  }
  return worst;
}

/** The value of each option; `undefined` where one is unknown or does not fit. */
function valuesOf(run: LongRun, args: readonly string[]): Record<string, unknown> | undefined {
  const options = Object.entries(run.options);
  const ofText = options.map(([option]) => [option, { type: 'string' }] as const);
  try {
    const { values } = parseArgs({ args: [...args], options: Object.fromEntries(ofText) });
    return Object.fromEntries(options.map(([option, { read }]) => [option, read(values[option])]));
  } catch {
    return undefined;
  }
}

function usageOf(runName: string, { about, options }: LongRun): string {
  const lines = Object.entries(options).map(
    ([option, { about: meaning }]) => `  --${option.padEnd(12)} ${meaning}\n`,
  );
  return `npm run long -- ${runName}: ${about}\n${lines.join('')}`;
}
