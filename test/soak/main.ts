import { parseArgs } from 'node:util';
import { runSoak, type Findings, type SoakRun } from './soak.ts';
import type { Held } from './serverUnderTest.ts';

const USAGE = `npm run soak -- [--minutes N] [--seed N]
  --minutes  how long the load lasts, both flows together (1)
  --seed     the same seed makes the same questions (1)
`;

/** Code that was compiled meanwhile is memory as well: growth up to this is not taken for a leak. */
const TOLERATED_SHARE = 0.1;
const TOLERATED_BYTES = 4 * 1024 * 1024;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
if (!(minutes > 0 && minutes < Infinity) || !Number.isInteger(seed)) {
  process.stderr.write(USAGE);
  process.exit(1);
}

const STRETCHES: readonly (Pick<SoakRun, 'flow'> & { readonly share: number })[] = [
  { flow: '2-legged', share: 0.6 },
  { flow: '3-legged', share: 0.4 },
];

let isWrong = false;
for (const { flow, share } of STRETCHES) {
  const findings = await runSoak({ minutes: minutes * share, seed, flow });
  const grown = growths(findings);
  process.stdout.write(report(flow, minutes * share, findings, grown));
  isWrong ||= grown.length > 0 || [...findings.statuses.keys()].some((status) => status !== '200');
}
process.stdout.write(isWrong ? 'WRONG\n' : 'nothing wrong\n');
process.exitCode = isWrong ? 1 : 0;

/** What is not back at its baseline. */
function growths({ baseline, end }: Findings): string[] {
  const grew = (name: keyof Held, tolerated: number): string[] =>
    end[name] > baseline[name] + tolerated ? [name] : [];
  const bytes = (name: 'heapBytes' | 'externalBytes'): string[] =>
    grew(name, Math.max(TOLERATED_BYTES, baseline[name] * TOLERATED_SHARE));
  return [
    ...bytes('heapBytes'),
    ...bytes('externalBytes'),
    ...grew('sockets', 0),
    ...grew('timers', 0),
  ];
}

function row(name: string, ...cells: (number | string)[]): string {
  return `  ${name.padEnd(28)} ${cells.map((cell) => String(cell).padStart(12)).join('')}\n`;
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}

function report(
  flow: string,
  lasted: number,
  { capacity, rate, requests, exchanges, statuses, faults, baseline, end }: Findings,
  grown: readonly string[],
): string {
  const failed = [...faults].reduce(
    (sum, [name, count]) => (name === 'none' ? sum : sum + count),
    0,
  );
  return [
    `${flow} (${lasted.toFixed(2)} minutes)\n`,
    row('requests', requests),
    row('  a second, at most', capacity.toFixed(0)),
    row('  a second, under load', rate.toFixed(0)),
    row('exchanges', exchanges),
    row('  with a fault', failed, `${((100 * failed) / exchanges).toFixed(1)} %`),
    ...[...statuses].map(([status, count]) => row(`replies with ${status}`, count)),
    row('', 'baseline', 'end'),
    row('heap, MiB', mebibytes(baseline.heapBytes), mebibytes(end.heapBytes)),
    row('external, MiB', mebibytes(baseline.externalBytes), mebibytes(end.externalBytes)),
    row('resident, MiB', mebibytes(baseline.residentBytes), mebibytes(end.residentBytes)),
    row('sockets', baseline.sockets, end.sockets),
    row('timers', baseline.timers, end.timers),
    row('not back at the baseline', grown.length === 0 ? 'nothing' : grown.join(', ')),
  ].join('');
}
