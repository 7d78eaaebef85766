import { runSoak, type Findings, type SoakRun } from '../soak/soak.ts';
import { duration, longRun, report, seed, tallied, wrongIf, type Row } from './longRun.ts';

/** Code that was compiled meanwhile is memory as well: growth up to this is not taken for a leak. */
const TOLERATED_SHARE = 0.1;
const TOLERATED_BYTES = 4 * 1024 * 1024;

const STRETCHES: readonly (Pick<SoakRun, 'flow'> & { readonly share: number })[] = [
  { flow: '2-legged', share: 0.6 },
  { flow: '3-legged', share: 0.4 },
];

export const soak = longRun({
  about: 'load for a long time, and whether all that it took is given back',
  options: {
    minutes: duration('how long the load lasts, both flows together', 1),
    seed: seed('the same questions'),
  },
  short: ['--minutes', '0.3'],
  async *run({ minutes, seed: used }) {
    for (const { flow, share } of STRETCHES) {
      const lastsMinutes = minutes * share;
      const findings = await runSoak({ minutes: lastsMinutes, seed: used, flow });
      const grown = growths(findings);
      report(`${flow} (${lastsMinutes.toFixed(2)} minutes)`, rowsOf(findings, grown));
      const statuses = [...findings.statuses.keys()];
      yield wrongIf(grown.length > 0 || statuses.some((status) => status !== '200'));
    }
  },
});

type Weighed = 'heapBytes' | 'externalBytes' | 'residentBytes' | 'sockets' | 'timers';

function growths({ baseline, end }: Findings): string[] {
  const grew = (name: Weighed, tolerated: number): string[] =>
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

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}

function rowsOf(
  { capacity, rate, requests, exchanges, statuses, faults, baseline, end }: Findings,
  grown: readonly string[],
): Row[] {
  const failed = [...faults].reduce(
    (sum, [name, times]) => (name === 'none' ? sum : sum + times),
    0,
  );
  const held = (name: Weighed): Row => [
    `${name}, MiB, baseline and end`,
    mebibytes(baseline[name]),
    mebibytes(end[name]),
  ];
  return [
    ['requests', requests],
    ['requests a second, at most', capacity.toFixed(0)],
    ['requests a second, under load', rate.toFixed(0)],
    ['exchanges', exchanges],
    ['exchanges with a fault', failed, `${((100 * failed) / exchanges).toFixed(1)} %`],
    ...tallied('replies', statuses),
    held('heapBytes'),
    held('externalBytes'),
    held('residentBytes'),
    ['sockets, baseline and end', baseline.sockets, end.sockets],
    ['timers, baseline and end', baseline.timers, end.timers],
    ['not back at the baseline', grown.length === 0 ? 'nothing' : grown.join(', ')],
  ];
}
