import { parseArgs } from 'node:util';
import { runChaos, type ChaosRun, type Findings, type Wrongness } from './chaos.ts';
import { GUARDS } from './guards.ts';
import { OPERATOR_GUARDS } from './threeOperators.ts';

const ALL_GUARDS = [...GUARDS, ...OPERATOR_GUARDS];

const USAGE = `npm run chaos -- [--exchanges N] [--seed N] [--without GUARD] [--operators 3]
  --exchanges  how many exchanges the operator is to see (20000)
  --seed       the same seed makes the same faults (a new one each time)
  --without    one of ${ALL_GUARDS.join(', ')}
  --operators  3: the stretch with three operators alone
`;

const { values } = parseArgs({
  options: {
    exchanges: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    without: { type: 'string' },
    operators: { type: 'string' },
  },
});
const exchanges = Number(values.exchanges);
const seed = Number(values.seed);
const without = ALL_GUARDS.find((guard) => guard === values.without);
if (
  !Number.isInteger(exchanges) ||
  exchanges < 1 ||
  !Number.isInteger(seed) ||
  (values.without !== undefined && without === undefined) ||
  (values.operators !== undefined && values.operators !== '3')
) {
  process.stderr.write(USAGE);
  process.exit(1);
}

type Stretch = Omit<ChaosRun, 'exchanges' | 'seed' | 'without' | 'until'> & {
  readonly title: string;
  readonly share: number;
};

/** Both flows, operators that never echo a correlator, and three operators at a time. */
const STRETCHES: readonly Stretch[] = [
  { title: '2-legged, echoing', flow: '2-legged', echoes: true, share: 0.3 },
  { title: '3-legged, echoing', flow: '3-legged', echoes: true, share: 0.1 },
  {
    title: '2-legged, not echoing, answers by the token',
    flow: '2-legged',
    echoes: false,
    onMismatch: 'answers by the token',
    share: 0.1,
  },
  {
    title: '2-legged, HTTP/2, not echoing',
    flow: '2-legged',
    echoes: false,
    http2: true,
    share: 0.2,
  },
  {
    title: '2-legged, not echoing, refuses tokens of other numbers',
    flow: '2-legged',
    echoes: false,
    onMismatch: 'refuses',
    share: 0.1,
  },
  // Of either flow; `flow` is of an operator that stands alone.
  { title: 'three operators', flow: '2-legged', echoes: true, operators: 3, share: 0.2 },
];

let isWrong = false;
const stretches =
  values.operators === undefined
    ? STRETCHES
    : STRETCHES.filter(({ operators }) => operators === 3).map((one) => ({ ...one, share: 1 }));
for (const { title, share, ...stretch } of stretches) {
  const startedAtMs = performance.now();
  const findings = await runChaos({
    exchanges: Math.ceil(exchanges * share),
    seed,
    without,
    ...stretch,
  });
  const seconds = (performance.now() - startedAtMs) / 1000;
  process.stdout.write(report(title, findings, seconds));
  isWrong ||= wrongnessOf(findings.wrong) > 0;
}
process.stdout.write(`seed ${seed}: ${isWrong ? 'WRONG' : 'nothing wrong'}\n`);
process.exitCode = isWrong ? 1 : 0;

function wrongnessOf(wrong: Wrongness): number {
  return Object.values<number>({ ...wrong }).reduce((sum, one) => sum + one, 0);
}

function row(name: string, value: number | string): string {
  return `  ${name.padEnd(36)} ${value}\n`;
}

function report(title: string, findings: Findings, seconds: number): string {
  const { wrong, refusals, faults, answeredOf } = findings;
  const list = (counts: ReadonlyMap<string, number>): string =>
    [...counts]
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([name, count]) => row(`  ${name}`, count))
      .join('');
  return [
    `${title} (${seconds.toFixed(0)} s)\n`,
    row('exchanges', findings.exchanges),
    row('lookups made', findings.lookups),
    row('answers', findings.answers),
    row('stray tokens refused', findings.strayTokensRefused),
    row('latest answer past its deadline, ms', Math.max(0, findings.latestMs).toFixed(0)),
    row("  server's longest turn, ms", findings.server.eventLoopDelayMs.toFixed(0)),
    row('  the same by its own work, ms', findings.server.ownDelayMs.toFixed(0)),
    ...(answeredOf.size > 1
      ? [...answeredOf].map(([name, share]) => row(`answered of ${name}`, share.toFixed(2)))
      : []),
    '  faults\n',
    list(faults),
    '  refusals\n',
    list(refusals),
    '  wrong\n',
    row('  wrong answers', wrong.wrongAnswers),
    row('  false for unknown', wrong.falseForUnknown),
    row('  tokens seen twice', wrong.tokensSeenTwice),
    row('  tokens on another number or scope', wrong.tokensOnAnotherSubject),
    row('  tokens past their end', wrong.tokensPastTheirEnd),
    row("  numbers at another's operator", wrong.numbersOfOthers),
    row('  lookups billed twice on a doubt', wrong.billedTwice),
    row('  prompts while an earlier one lived', wrong.promptsWhileOneLived),
    row('  requests without an end', wrong.withoutAnEnd),
  ].join('');
}
