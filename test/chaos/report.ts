import { laidOut } from '../../bench/report/markdown.ts';
import type { Findings, Wrongness } from './chaos.ts';

/** One stretch that was run. */
export interface RunStretch {
  readonly title: string;
  readonly findings: Findings;
  readonly seconds: number;
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

/** What one stretch came to, for the terminal. */
export function stretchText({ title, findings, seconds }: RunStretch): string {
  const { refusals, faults, answeredOf } = findings;
  return [
    `${title} (${seconds.toFixed(0)} s)\n`,
    ...figuresOf(findings).map(([name, figure]) => line(name, figure)),
    ...(answeredOf.size > 1
      ? [...answeredOf].map(([name, share]) => line(`answered of ${name}`, share.toFixed(2)))
      : []),
    '  faults\n',
    listed(faults),
    '  refusals\n',
    listed(refusals),
    '  wrong\n',
    ...wrongFigures(findings).map(([name, figure]) => line(`  ${name}`, figure)),
  ].join('');
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
  return `${table}\n\n\`npm run chaos -- --exchanges ${exchanges} --seed ${seed}\`, ${date}, Node ${node}, ${cores} cores, load average ${loadAtStart} before the start.`;
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
    ['tokens seen twice', String(wrong.tokensSeenTwice)],
    ['tokens on another number or scope', String(wrong.tokensOnAnotherSubject)],
    ['tokens past their end', String(wrong.tokensPastTheirEnd)],
    ["numbers at another's operator", String(wrong.numbersOfOthers)],
    ['lookups billed twice on a doubt', String(wrong.billedTwice)],
    ['prompts while an earlier one lived', String(wrong.promptsWhileOneLived)],
    ['requests without an end', String(wrong.withoutAnEnd)],
  ];
}

function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([name, count]) => line(`  ${name}`, String(count)))
    .join('');
}

function line(name: string, value: string): string {
  return `  ${name.padEnd(36)} ${value}\n`;
}
