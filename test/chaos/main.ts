import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { withMeasured } from '../../bench/report/markdown.ts';
import { runChaos, type ChaosRun } from './chaos.ts';
import { GUARDS } from './guards.ts';
import { chaosMarkdown, stretchText, wrongnessOf, type RunStretch } from './report.ts';
import { OPERATOR_GUARDS } from './threeOperators.ts';

const ALL_GUARDS = [...GUARDS, ...OPERATOR_GUARDS];

const USAGE = `npm run chaos -- [--exchanges N] [--seed N] [--without GUARD] [--operators 3]
npm run chaos -- --write [--exchanges N] [--seed N]
  --exchanges  how many exchanges the operator is to see (20000)
  --seed       the same seed makes the same faults (a new one each time)
  --without    one of ${ALL_GUARDS.join(', ')}
  --operators  3: the stretch with three operators alone
  --write      writes what all stretches came to into docs/reliability.md
`;

const { values } = parseArgs({
  options: {
    exchanges: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    without: { type: 'string' },
    operators: { type: 'string' },
    write: { type: 'boolean', default: false },
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
  (values.operators !== undefined && values.operators !== '3') ||
  (values.write && (values.without !== undefined || values.operators !== undefined))
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

const DOCUMENT = new URL('../../docs/reliability.md', import.meta.url);

const circumstances = {
  exchanges,
  seed,
  date: new Date().toISOString().slice(0, 10),
  node: process.version,
  cores: availableParallelism(),
  loadAtStart: Number(loadavg()[0]?.toFixed(1) ?? 0),
};
const run: RunStretch[] = [];
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
  const one = { title, findings, seconds };
  run.push(one);
  process.stdout.write(stretchText(one));
}
if (values.write) {
  const measured = new Map([['chaos', chaosMarkdown(run, circumstances)]]);
  writeFileSync(DOCUMENT, withMeasured(readFileSync(DOCUMENT, 'utf8'), measured));
}
const isWrong = run.some(({ findings }) => wrongnessOf(findings.wrong) > 0);
process.stdout.write(`seed ${seed}: ${isWrong ? 'WRONG' : 'nothing wrong'}\n`);
process.exitCode = isWrong ? 1 : 0;
