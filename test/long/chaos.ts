import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { withMeasured } from '../../bench/report/markdown.ts';
import { runChaos, type ChaosRun } from '../chaos/chaos.ts';
import { GUARDS } from '../chaos/guards.ts';
import { chaosMarkdown, rowsOf, type RunStretch } from '../chaos/report.ts';
import { wrongnessOf } from '../chaos/wrongness.ts';
import { OPERATOR_GUARDS } from '../chaos/threeOperators.ts';
import { count, flag, longRun, oneOf, seed, stretch, wrongIf } from './longRun.ts';

const ALL_GUARDS = [...GUARDS, ...OPERATOR_GUARDS];

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

export const chaos = longRun({
  about: 'an operator that fails in every way on the wire, and clients that know the truth',
  options: {
    exchanges: count('how many exchanges the operator is to see', 20_000),
    seed: seed('the same faults'),
    without: oneOf('without one of these guards', ALL_GUARDS),
    operators: oneOf('the stretch with three operators only', ['3']),
    write: flag('writes what all stretches found into docs/reliability.md'),
  },
  short: ['--exchanges', '20000'],
  async *run({ exchanges, without, operators, write, seed: used }) {
    const measuredOn = {
      exchanges,
      seed: used,
      date: new Date().toISOString().slice(0, 10),
      node: process.version,
      cores: availableParallelism(),
      loadAtStart: Number(loadavg()[0]?.toFixed(1) ?? 0),
    };
    const stretches =
      operators === undefined
        ? STRETCHES
        : STRETCHES.filter((one) => one.operators === 3).map((one) => ({ ...one, share: 1 }));
    const run: RunStretch[] = [];
    for (const { title, share, ...one } of stretches) {
      const part = { ...one, exchanges: Math.ceil(exchanges * share), seed: used, without };
      const findings = await stretch(title, () => runChaos(part), rowsOf);
      run.push({ title, findings });
      yield wrongIf(wrongnessOf(findings.wrong) > 0);
    }
    if (write && without === undefined && operators === undefined) {
      const measured = new Map([['chaos', chaosMarkdown(run, measuredOn)]]);
      writeFileSync(DOCUMENT, withMeasured(readFileSync(DOCUMENT, 'utf8'), measured));
    }
  },
});
