import { laidOut } from '../../bench/report/markdown.ts';
import { STORES } from '../scale/sharedStore.ts';
import {
  runStretch,
  type Check,
  type Findings,
  type Flow,
  type Stretch,
} from '../scale/stretch.ts';
import {
  counts,
  duration,
  longRun,
  report,
  someOf,
  tallied,
  wrongIf,
  type Row,
  type Verdict,
} from './longRun.ts';

const FLOWS: readonly Flow[] = ['2-legged', '3-legged'];

export const scale = longRun({
  about: 'what lookups cost over several processes on one Redis',
  options: {
    processes: counts('how many processes share a Redis', [1, 2, 4]),
    store: someOf('the store', STORES),
    flow: someOf('the flow', FLOWS),
    seconds: duration('how long each is measured', 10),
  },
  short: ['--processes', '2', '--store', 'cluster', '--seconds', '1'],
  needsRedis: true,
  async *run({ processes: all, store: stores, flow: flows, seconds }) {
    const rows: string[][] = [];
    for (const flow of flows) {
      for (const store of stores) {
        for (const processes of all) {
          const one = { flow, store, processes, seconds };
          const findings = await runStretch(one);
          yield* findings.checks.map(verdictOn);
          reportStretch(one, findings);
          rows.push(figures(one, findings));
        }
      }
    }
    process.stdout.write(`\n${laidOut([HEADS, ...rows])}\n`);
  },
});

function verdictOn({ expected, counted }: Check): Verdict {
  return wrongIf(expected !== counted);
}

function reportStretch({ flow, store, processes }: Stretch, { checks, timed }: Findings): void {
  report(`${flow}, ${processes} of it on ${store === 'redis' ? 'one Redis' : 'a cluster'}`, [
    ...checks.map((check): Row => {
      const { what, expected, counted } = check;
      const not = expected === counted ? [] : [`not ${expected}`];
      const verdict = verdictOn(check);
      return [`${verdict === 'nothing wrong' ? 'held' : verdict}: ${what}`, counted, ...not];
    }),
    ...tallied('under load', timed.told),
  ]);
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

const HEADS = [
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
