import { laidOut } from '../../bench/report/markdown.ts';
import { tallied, type Row } from '../long/longRun.ts';
import type { Findings } from './chaos.ts';
import { WRONG, wrongnessOf } from './wrongness.ts';

export interface RunStretch {
  readonly title: string;
  readonly findings: Findings;
}

export interface ChaosCircumstances {
  readonly exchanges: number;
  readonly seed: number;
  /** As `2026-01-31`. */
  readonly date: string;
  readonly node: string;
  readonly cores: number;
  /** The load average of the minute before: what else the machine did. */
  readonly loadAtStart: number;
}

export function rowsOf(findings: Findings): readonly Row[] {
  const { refusals, faults, answeredOf } = findings;
  const shares = answeredOf.size > 1 ? [...answeredOf] : [];
  return [
    ...figuresOf(findings),
    ...shares.map(([name, share]): Row => [`answered of ${name}`, share.toFixed(2)]),
    ...tallied('fault', faults),
    ...tallied('refusal', refusals),
    ...Object.entries(findings.wrong).map(([name, count]): Row => {
      return [`wrong: ${WRONG[name as keyof typeof WRONG]}`, count];
    }),
  ];
}

/** A row for each stretch, for the document: what it came to, and the sum of what must be zero. */
export function chaosMarkdown(
  stretches: readonly RunStretch[],
  { exchanges, seed, date, node, cores, loadAtStart }: ChaosCircumstances,
): string {
  const rows = stretches.map(({ title, findings }) => {
    const figures = new Map(figuresOf(findings));
    const shown = SHOWN.map((name) => figures.get(name) ?? '');
    return [title, ...shown, String(wrongnessOf(findings.wrong))];
  });
  const table = laidOut([['stretch', ...SHOWN, 'wrong'], ...rows]);
  return `${table}\n\n\`npm run long -- chaos --exchanges ${exchanges} --seed ${seed}\`, ${date}, Node ${node}, ${cores} cores, load average ${loadAtStart} before the start.`;
}

const SHOWN = [
  'exchanges',
  'lookups made',
  'answers',
  'latest answer past its deadline, ms',
  'later than those turns explain, ms',
];

type Figure = readonly [name: string, value: string];

function figuresOf(findings: Findings): readonly Figure[] {
  const { server, clients } = findings;
  const latestMs = Math.max(0, findings.latestMs);
  // The client sends, the server reads, its timer is noticed, the client reads.
  const turnsMs = 2 * (server.longestTurnMs + clients.longestTurnMs);
  return [
    ['exchanges', String(findings.exchanges)],
    ['lookups made', String(findings.lookups)],
    ['answers', String(findings.answers)],
    ['stray tokens refused', String(findings.strayTokensRefused)],
    ['latest answer past its deadline, ms', latestMs.toFixed(0)],
    ["server's longest turn, ms", server.longestTurnMs.toFixed(0)],
    ['the same by its own work, ms', server.ownTurnMs.toFixed(0)],
    ["clients' longest turn, ms", clients.longestTurnMs.toFixed(0)],
    ['later than those turns explain, ms', Math.max(0, latestMs - turnsMs).toFixed(0)],
  ];
}
