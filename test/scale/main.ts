import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { NO_REDIS } from '../redisServer.ts';
import { STORES } from './sharedStore.ts';
import { runStretch, type Check, type Findings, type Flow, type Stretch } from './stretch.ts';

const USAGE = `npm run scale-test -- [--processes LIST] [--store STORE] [--flow FLOW] [--seconds S]
  --processes  how many processes share a Redis, with commas between (1,2,4)
  --store      one of ${STORES.join(', ')}, all (all)
  --flow       2-legged, 3-legged or all (all)
  --seconds    how long each is measured (10)
`;

const FLOWS: readonly Flow[] = ['2-legged', '3-legged'];

const { values } = parseArgs({
  options: {
    processes: { type: 'string', default: '1,2,4' },
    store: { type: 'string', default: 'all' },
    flow: { type: 'string', default: 'all' },
    seconds: { type: 'string', default: '10' },
  },
});
const counts = values.processes.split(',').map(Number);
const stores = STORES.filter((store) => values.store === 'all' || values.store === store);
const flows = FLOWS.filter((flow) => values.flow === 'all' || values.flow === flow);
const seconds = Number(values.seconds);
const areCounts = counts.every((count) => Number.isInteger(count) && count > 0);
if (!areCounts || stores.length === 0 || flows.length === 0 || !(seconds > 0 && seconds < 3600)) {
  process.stderr.write(USAGE);
  process.exit(1);
}
if (NO_REDIS !== undefined) {
  process.stdout.write(`scale-test: ${NO_REDIS}\n`);
  process.exit(0);
}

const stretches: readonly Stretch[] = flows.flatMap((flow) =>
  stores.flatMap((store) => counts.map((processes) => ({ flow, store, processes, seconds }))),
);
/** What cannot be told, since Redis was too slow each time. */
const INCONCLUSIVE = 2;

let isWrong = false;
let isInconclusive = false;
process.stdout.write(
  `${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)} before it began; Node ${process.version}\n`,
);
const rows: string[][] = [];
for (const stretch of stretches) {
  const findings = await runStretch(stretch);
  isWrong ||= findings.checks.some((check) => verdictOn(check) === 'WRONG');
  isInconclusive ||= findings.checks.some((check) => verdictOn(check) === 'open ');
  process.stdout.write(report(stretch, findings));
  rows.push(figures(stretch, findings));
}
process.stdout.write(`\n${table(rows)}`);
const verdict = isInconclusive ? 'INCONCLUSIVE: Redis took over a second' : 'nothing wrong';
process.stdout.write(`${isWrong ? 'WRONG' : verdict}\n`);
process.exitCode = isWrong ? 1 : isInconclusive ? INCONCLUSIVE : 0;

function verdictOn({
  expected,
  counted,
  isInconclusive: isOpen,
}: Check): 'held ' | 'open ' | 'WRONG' {
  if (isOpen === true) return 'open ';
  return expected === counted ? 'held ' : 'WRONG';
}

function report({ flow, store, processes }: Stretch, { checks, timed }: Findings): string {
  const title = `${flow}, ${processes} of it on ${store === 'redis' ? 'one Redis' : 'a cluster'}`;
  const lines = checks.map((check) => {
    const { what, expected, counted } = check;
    const not = expected === counted ? '' : `, not ${expected}`;
    return `  ${verdictOn(check)} ${what}: ${counted}${not}`;
  });
  const told = [...timed.told].map(([code, count]) => `${code} ${count}`).join(', ');
  return `\n${title}\n${lines.join('\n')}\n  told under load: ${told}\n`;
}

function figures({ flow, store, processes }: Stretch, findings: Findings): string[] {
  const { lookups, timed, processMs, storeMs, othersMs, storeBytes, auditBytes, residentMib } =
    findings;
  const at = (share: number): string =>
    (timed.latencies[Math.floor(timed.latencies.length * share)] ?? 0).toFixed(0);
  return [
    flow,
    store,
    String(processes),
    (lookups / timed.seconds).toFixed(0),
    at(0.5),
    at(0.99),
    processMs.toFixed(2),
    (1000 / processMs).toFixed(0),
    storeMs.toFixed(3),
    (1000 / storeMs).toFixed(0),
    othersMs.toFixed(2),
    storeBytes.toFixed(0),
    auditBytes.toFixed(0),
    residentMib.toFixed(0),
  ];
}

function table(all: readonly string[][]): string {
  const heads = [
    'flow',
    'store',
    'processes',
    'lookups/s',
    'p50 ms',
    'p99 ms',
    'CPU ms/lookup',
    'lookups/s a core',
    'Redis CPU ms/lookup',
    'lookups/s a Redis core',
    'load CPU ms/lookup',
    'Redis bytes/lookup',
    'audit bytes/lookup',
    'largest MiB',
  ];
  return line(heads) + line(heads.map(() => '---')) + all.map(line).join('');
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}
