import { parseArgs } from 'node:util';
import { runFuzz, type Findings, type FuzzRun, type Held } from './fuzz.ts';

const USAGE = `npm run fuzz -- [--inputs N] [--seed N] [--from N]
  --inputs  how many inputs, rubbish of the operator's among them (10000)
  --seed    the same seed makes the same inputs (a new one each time)
  --from    the number of the first input of each stretch (0), to send one again
`;

/** No input may keep the others waiting for longer. */
const MAX_DELAY_MS = 100;
/** Caches fill, code is compiled: more than this is a leak, or a cache without a bound. */
const MAX_GROWTH_BYTES = 64 * 1024 * 1024;
/** libuv starts its threads when they are needed. */
const MAX_MORE_THREADS = 4;
/** Connections to the operator that are kept alive. */
const MAX_MORE_DESCRIPTORS = 64;

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    from: { type: 'string', default: '0' },
  },
});
const [inputs = 0, seed = 0, from = 0] = [values.inputs, values.seed, values.from].map(Number);
if (!Number.isInteger(inputs) || inputs < 1 || !Number.isInteger(seed) || !(from >= 0)) {
  process.stderr.write(USAGE);
  process.exit(1);
}

const STRETCHES: readonly (Pick<FuzzRun, 'role' | 'flow'> & { readonly share: number })[] = [
  { role: 'bff', flow: '2-legged', share: 0.5 },
  { role: 'subgraph', flow: '2-legged', share: 0.35 },
  { role: 'bff', flow: '3-legged', share: 0.15 },
];

let isWrong = false;
for (const { role, flow, share } of STRETCHES) {
  const startedAtMs = performance.now();
  const findings = await runFuzz({ inputs: Math.ceil(inputs * share), from, seed, role, flow });
  const seconds = (performance.now() - startedAtMs) / 1000;
  process.stdout.write(report(`${role}, ${flow} (${seconds.toFixed(0)} s)`, findings));
  isWrong ||= hasFailed(findings);
}
process.stdout.write(`seed ${seed}: ${isWrong ? 'WRONG' : 'nothing wrong'}\n`);
process.exitCode = isWrong ? 1 : 0;

function hasFailed(findings: Findings): boolean {
  const { heldBefore, heldAfter } = findings;
  return (
    heldAfter.bytes - heldBefore.bytes > MAX_GROWTH_BYTES ||
    heldAfter.threads - heldBefore.threads > MAX_MORE_THREADS ||
    heldAfter.fileDescriptors - heldBefore.fileDescriptors > MAX_MORE_DESCRIPTORS ||
    findings.violationCount > 0 ||
    findings.uncaughtExceptions > 0 ||
    findings.unhandledRejections > 0 ||
    findings.defects.length > 0 ||
    findings.ownDelayMs > MAX_DELAY_MS
  );
}

function row(name: string, value: number | string): string {
  return `  ${name.padEnd(48)} ${value}\n`;
}

function report(title: string, findings: Findings): string {
  const list = (counts: ReadonlyMap<string, number>): string =>
    [...counts]
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([name, count]) => row(`  ${name}`, count))
      .join('');
  const heldRow = (name: string, of: (held: Held) => number | string): string =>
    row(`${name}, before and after`, `${of(findings.heldBefore)} ${of(findings.heldAfter)}`);
  return [
    `${title}\n  inputs\n`,
    list(findings.inputs),
    '  replies by status\n',
    list(findings.statuses),
    '  GraphQL errors by code\n',
    list(findings.codes),
    row('longest event-loop delay by own work, ms', findings.ownDelayMs.toFixed(1)),
    row('longest event-loop delay by the wall clock, ms', findings.eventLoopDelayMs.toFixed(1)),
    row('longest reply, bytes', findings.longestReplyBytes),
    heldRow('heap after collection, MiB', (held) => (held.bytes / 1024 / 1024).toFixed(1)),
    heldRow('threads', (held) => held.threads),
    heldRow('file descriptors', (held) => held.fileDescriptors),
    '  wrong\n',
    row('  5xx, no answer, broken resolvers, numbers told, too long', findings.violationCount),
    row('  uncaught exceptions', findings.uncaughtExceptions),
    row('  unhandled rejections', findings.unhandledRejections),
    ...[...findings.violations, ...findings.defects].map((one) => `    ${one}\n`),
  ].join('');
}
