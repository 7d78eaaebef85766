import { laidOut } from '../../bench/report/markdown.ts';
import { runChaos, type ChaosRun, type Findings } from '../chaos/chaos.ts';
import { GUARDS } from '../chaos/guards.ts';
import { OPERATOR_GUARDS } from '../chaos/threeOperators.ts';
import { count, longRun, oneOf, seed, stretch, tallied, wrongIf, type Row } from './longRun.ts';

type Stretch = Omit<ChaosRun, 'exchanges' | 'seed' | 'without' | 'until'> & {
  readonly title: string;
  readonly share: number;
};

const SILENT = { flow: '2-legged', echoes: false } as const;

/** Both flows, operators that never echo a correlator, and three operators at a time. */
const STRETCHES: readonly Stretch[] = [
  { title: '2-legged, echoing', flow: '2-legged', echoes: true, share: 0.3 },
  { title: '3-legged, echoing', flow: '3-legged', echoes: true, share: 0.1 },
  {
    ...SILENT,
    title: '2-legged, not echoing, answers by the token',
    onMismatch: 'answers by the token',
    share: 0.1,
  },
  { ...SILENT, title: '2-legged, HTTP/2, not echoing', http2: true, share: 0.2 },
  {
    ...SILENT,
    title: '2-legged, not echoing, refuses tokens of other numbers',
    onMismatch: 'refuses',
    share: 0.1,
  },
  // Both flows; `flow` applies to a single operator.
  { title: 'three operators', flow: '2-legged', echoes: true, operators: 3, share: 0.2 },
];

/** Of each stretch. */
const SHOWN = [
  'exchanges',
  'lookups made',
  'answers',
  'latest answer past its deadline, ms',
  'later than those turns explain, ms',
];

export const chaos = longRun({
  about: 'clients compare answers with the truth while operators fail in every way on the wire',
  options: {
    exchanges: count('how many exchanges the operator is to see', 20_000),
    seed: seed('the same faults'),
    without: oneOf('without one of these guards', [...GUARDS, ...OPERATOR_GUARDS]),
  },
  short: ['--exchanges', '10000'],
  async *run({ exchanges, without, seed: used }) {
    const lines: string[][] = [];
    for (const { title, share, ...one } of STRETCHES) {
      const part = { ...one, exchanges: Math.ceil(exchanges * share), seed: used, without };
      const findings = await stretch(title, () => runChaos(part), rowsOf);
      const wrongs = Object.values<number>({ ...findings.wrong }).reduce((all, n) => all + n, 0);
      const figures = new Map(figuresOf(findings).map(([name, figure]) => [name, figure]));
      lines.push([title, ...SHOWN.map((name) => String(figures.get(name))), String(wrongs)]);
      yield wrongIf(wrongs > 0);
    }
    process.stdout.write(`\n${laidOut([['stretch', ...SHOWN, 'wrong'], ...lines])}\n`);
  },
});

function rowsOf(findings: Findings): readonly Row[] {
  const { refusals, faults, answeredOf, wrong } = findings;
  const shares = answeredOf.size > 1 ? [...answeredOf] : [];
  return [
    ...figuresOf(findings),
    ...shares.map(([name, share]): Row => [`answered of ${name}`, share.toFixed(2)]),
    ...tallied('fault', faults),
    ...tallied('refusal', refusals),
    ...tallied('wrong', Object.entries<number>({ ...wrong })),
  ];
}

function figuresOf(findings: Findings): readonly Row[] {
  const { server, clients } = findings;
  const latestMs = Math.max(0, findings.latestMs);
  // The client sends, the server reads, its timer is noticed, the client reads.
  const turnsMs = 2 * (server.longestTurnMs + clients.longestTurnMs);
  return [
    ['exchanges', findings.exchanges],
    ['lookups made', findings.lookups],
    ['answers', findings.answers],
    ['stray tokens refused', findings.strayTokensRefused],
    ['latest answer past its deadline, ms', latestMs.toFixed(0)],
    ["server's longest turn, ms", server.longestTurnMs.toFixed(0)],
    ['the same by its own work, ms', server.ownTurnMs.toFixed(0)],
    ["clients' longest turn, ms", clients.longestTurnMs.toFixed(0)],
    ['later than those turns explain, ms', Math.max(0, latestMs - turnsMs).toFixed(0)],
  ];
}
