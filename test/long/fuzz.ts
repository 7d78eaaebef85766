import { runFuzz, type Findings, type FuzzRun, type Held } from '../fuzz/fuzz.ts';
import { count, longRun, numeric, seed, stretch, tallied, wrongIf, type Row } from './longRun.ts';

/** No input may keep the others waiting for longer. */
const MAX_DELAY_MS = 100;
/** Caches fill, code is compiled: more than this is a leak, or a cache without a bound. */
const MAX_GROWTH_BYTES = 64 * 1024 * 1024;
/** libuv starts its threads when they are needed. */
const MAX_MORE_THREADS = 4;
/** Connections to the operator that are kept alive. */
const MAX_MORE_DESCRIPTORS = 64;

const STRETCHES: readonly (Pick<FuzzRun, 'role' | 'flow'> & { readonly share: number })[] = [
  { role: 'bff', flow: '2-legged', share: 0.5 },
  { role: 'subgraph', flow: '2-legged', share: 0.35 },
  { role: 'bff', flow: '3-legged', share: 0.15 },
];

export const fuzz = longRun({
  about: 'rubbish as HTTP, documents, variables, tokens and replies of the operator',
  options: {
    inputs: count("how many inputs, rubbish of the operator's among them", 10_000),
    seed: seed('the same inputs'),
    from: numeric('the number of the first input of each stretch, to send one again', 0, isIndex),
  },
  short: ['--inputs', '10000'],
  async *run({ inputs, from, seed: used }) {
    for (const { role, flow, share } of STRETCHES) {
      const run = { inputs: Math.ceil(inputs * share), from, seed: used, role, flow };
      yield wrongIf(hasFailed(await stretch(`${role}, ${flow}`, () => runFuzz(run), rowsOf)));
    }
  },
});

function isIndex(value: number): boolean {
  return Number.isInteger(value) && value >= 0;
}

function hasFailed(findings: Findings): boolean {
  const { heldBefore, heldAfter } = findings;
  return (
    heldAfter.bytes - heldBefore.bytes > MAX_GROWTH_BYTES ||
    heldAfter.threads - heldBefore.threads > MAX_MORE_THREADS ||
    heldAfter.fileDescriptors - heldBefore.fileDescriptors > MAX_MORE_DESCRIPTORS ||
    findings.violationCount > 0 ||
    findings.defects.length > 0 ||
    findings.ownTurnMs > MAX_DELAY_MS
  );
}

function mebibytes({ bytes }: Held): string {
  return (bytes / 1024 / 1024).toFixed(1);
}

function rowsOf(findings: Findings): Row[] {
  const { heldBefore, heldAfter } = findings;
  return [
    ...tallied('inputs', findings.inputs),
    ...tallied('replies with', findings.statuses),
    ...tallied('GraphQL errors with', findings.codes),
    ['longest event-loop delay by own work, ms', findings.ownTurnMs.toFixed(1)],
    ['longest event-loop delay by the wall clock, ms', findings.longestTurnMs.toFixed(1)],
    ['longest reply, bytes', findings.longestReplyBytes],
    ['heap after collection, MiB, before and after', mebibytes(heldBefore), mebibytes(heldAfter)],
    ['threads, before and after', heldBefore.threads, heldAfter.threads],
    ['file descriptors, before and after', heldBefore.fileDescriptors, heldAfter.fileDescriptors],
    ['wrong: 5xx, no answer, resolvers, numbers, too long', findings.violationCount],
    ['wrong: not caught, not handled, or broken', findings.defects.length],
    ...[...findings.violations, ...findings.defects.slice(0, 10)].map((one): Row => [`  ${one}`]),
  ];
}
