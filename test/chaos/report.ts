import { laidOut } from '../../bench/report/markdown.ts';
import { tallied, type Row } from '../long/longRun.ts';
import type { Findings, Wrongness } from './chaos.ts';

/** One stretch that was run. */
export interface RunStretch {
  readonly title: string;
  readonly findings: Findings;
}

/** How and on what the stretches were run. */
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

/** How much of what must be zero there is. */
export function wrongnessOf(wrong: Wrongness): number {
  return Object.values<number>({ ...wrong }).reduce((sum, one) => sum + one, 0);
}

/** What one stretch found. */
export function rowsOf(findings: Findings): readonly Row[] {
  const { refusals, faults, answeredOf } = findings;
  const shares = answeredOf.size > 1 ? [...answeredOf] : [];
  return [
    ...figuresOf(findings),
    ...shares.map(([name, share]): Row => [`answered of ${name}`, share.toFixed(2)]),
    ...tallied('fault', faults),
    ...tallied('refusal', refusals),
    ...wrongFigures(findings).map(([name, figure]): Row => [`wrong: ${name}`, figure]),
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

/** The figures of a stretch that the document has. */
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

function wrongFigures({ wrong }: Findings): readonly Figure[] {
  return [
    ['wrong answers', String(wrong.wrongAnswers)],
    ['false for unknown', String(wrong.falseForUnknown)],
    ['tokens used twice', String(wrong.tokensUsedTwice)],
    ['tokens on another number or scope', String(wrong.tokensOnAnotherSubject)],
    ['tokens past their end', String(wrong.tokensPastTheirEnd)],
    ["numbers at another's operator", String(wrong.numbersOfOthers)],
    ['lookups billed twice on a doubt', String(wrong.billedTwice)],
    ['prompts while an earlier one lived', String(wrong.promptsWhileOneLived)],
    ['requests without an end', String(wrong.withoutAnEnd)],
  ];
}
