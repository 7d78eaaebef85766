import { setTimeout as sleep } from 'node:timers/promises';
import { ChaosOperator } from '../chaos/chaosOperator.ts';
import { Truth } from '../chaos/truth.ts';
import { Random } from '../support/random.ts';
import { Counts } from './counts.ts';
import { duration, longRun, report, seed, tallied, wrongIf, type Row } from './longRun.ts';
import type { ProbeFigures } from './probe.ts';
import { ProbedServer } from './probedServer.ts';
import { callingOperator } from './settings.ts';

type Flow = '2-legged' | '3-legged';

/** Of the full rate. */
const LOAD = 0.7;
const FAULT_SHARE = 0.05;
const OPERATOR_TIMEOUT_MS = 300;
/** A request whose lookups time out takes less; on a machine that does other things all take longer. */
const REQUEST_TIMEOUT_MS = 10_000;
const GIVEN_UP_AFTER_MS = 30_000;
const CLIENTS = 64;
/** Requests are sent in portions: a timer for each would be load by itself. */
const PORTION_EVERY_MS = 10;
/** Idle connections to the operator are kept for some seconds, then closed. */
const SETTLES_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 250;
/** Code that was compiled meanwhile takes memory too: growth up to this is not a leak. */
const TOLERATED_SHARE = 0.1;
const TOLERATED_BYTES = 4 * 1024 * 1024;

const SHARES: readonly (readonly [flow: Flow, share: number])[] = [
  ['2-legged', 0.6],
  ['3-legged', 0.4],
];

export const soak = longRun({
  about: 'load for a long time, and whether the memory, sockets and timers that it took are freed',
  options: {
    minutes: duration('how long the load lasts, both flows together', 1),
    seed: seed('the same questions'),
  },
  short: ['--minutes', '0.3'],
  async *run({ minutes, seed: used }) {
    for (const [flow, share] of SHARES)
      yield wrongIf(await isWrongAfter(flow, minutes * share, used));
  },
});

async function isWrongAfter(flow: Flow, minutes: number, used: number): Promise<boolean> {
  const operator = new ChaosOperator(new Truth(used, Date.now()), new Random(used + 1), {
    echoes: true,
    refusesOperations: flow === '2-legged',
    lateMs: OPERATOR_TIMEOUT_MS + 50,
    faultShare: FAULT_SHARE,
  });
  const server = await ProbedServer.start({
    ...callingOperator(await operator.listen(), flow),
    OPERATOR_TIMEOUT_MS: String(OPERATOR_TIMEOUT_MS),
    REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS),
    CONSENT_WAIT_MS: '500',
  });
  const load = new Load(server, new Random(used));
  const totalMs = minutes * 60_000;
  try {
    // Warms up at full rate, then at the rate of the test.
    await load.asFastAsItGoes(totalMs * 0.15);
    const capacity = await load.asFastAsItGoes(totalMs * 0.1);
    const rate = capacity * LOAD;
    await load.atRate(rate, totalMs * 0.15);
    await server.hangUp();
    const baseline = await settled(server, ({ sockets }) => sockets === 0);

    await load.atRate(rate, totalMs * 0.6);
    await server.hangUp();
    const end = await settled(
      server,
      ({ sockets, timers }) => sockets <= baseline.sockets && timers <= baseline.timers,
    );
    const grown = grownBetween(baseline, end);
    const failed = operator.exchanges - (operator.faults.get('none') ?? 0);
    report(`${flow} (${minutes.toFixed(2)} minutes)`, [
      ['requests', load.requests],
      ['requests a second, at most', capacity.toFixed(0)],
      ['requests a second, under load', rate.toFixed(0)],
      ['exchanges', operator.exchanges],
      ['exchanges with a fault', failed, `${((100 * failed) / operator.exchanges).toFixed(1)} %`],
      ...tallied('replies', load.statuses),
      ...(['heapBytes', 'externalBytes', 'residentBytes'] as const).map((name): Row => [
        `${name}, MiB, baseline and end`,
        mebibytes(baseline[name]),
        mebibytes(end[name]),
      ]),
      ['sockets, baseline and end', baseline.sockets, end.sockets],
      ['timers, baseline and end', baseline.timers, end.timers],
      ['not back at the baseline', grown.length === 0 ? 'nothing' : grown.join(', ')],
    ]);
    return grown.length > 0 || [...load.statuses.keys()].some((status) => status !== '200');
  } finally {
    await server[Symbol.asyncDispose]();
    await operator.close();
  }
}

async function settled(
  server: ProbedServer,
  isSettled: (held: ProbeFigures) => boolean,
): Promise<ProbeFigures> {
  const untilMs = performance.now() + SETTLES_WITHIN_MS;
  for (;;) {
    const now = await server.figures();
    if (isSettled(now) || performance.now() > untilMs) return now;
    await sleep(LOOK_EVERY_MS);
  }
}

function grownBetween(baseline: ProbeFigures, end: ProbeFigures): readonly string[] {
  const tolerated = {
    heapBytes: Math.max(TOLERATED_BYTES, baseline.heapBytes * TOLERATED_SHARE),
    externalBytes: Math.max(TOLERATED_BYTES, baseline.externalBytes * TOLERATED_SHARE),
    sockets: 0,
    timers: 0,
  };
  const names = ['heapBytes', 'externalBytes', 'sockets', 'timers'] as const;
  return names.filter((name) => end[name] > baseline[name] + tolerated[name]);
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}

/** Few documents, many numbers: caches are full after the warm-up. */
const QUERIES = [
  'query ($n: [ID!]!) { phoneNumbers(e164s: $n) { e164 lastSimSwap } }',
  'query ($n: [ID!]!) { phoneNumbers(e164s: $n) { e164 simSwappedWithin } }',
  'query ($n: [ID!]!) { phoneNumbers(e164s: $n) { lastSimSwap a: simSwappedWithin(maxAgeHours: 24) } }',
  'query ($n: [ID!]!) { phoneNumbers(e164s: $n) { a: simSwappedWithin(maxAgeHours: 24) b: simSwappedWithin(maxAgeHours: 720) c: simSwappedWithin(maxAgeHours: 2400) } }',
] as const;

class Load {
  requests = 0;
  readonly statuses = new Counts();
  readonly #server: ProbedServer;
  readonly #random: Random;

  constructor(server: ProbedServer, random: Random) {
    this.#server = server;
    this.#random = random;
  }

  /** Every client sends its next request on a reply; returns requests a second. */
  async asFastAsItGoes(ms: number): Promise<number> {
    const startedAtMs = performance.now();
    const before = this.requests;
    const client = async (): Promise<void> => {
      while (performance.now() < startedAtMs + ms) await this.#ask();
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    return ((this.requests - before) * 1000) / (performance.now() - startedAtMs);
  }

  /** Sends so many requests a second, or fewer on a machine that has become slower: no more wait than while it was measured. */
  async atRate(perSecond: number, ms: number): Promise<void> {
    const startedAtMs = performance.now();
    const underWay = new Set<Promise<void>>();
    let asked = 0;
    for (;;) {
      const elapsedMs = Math.min(ms, performance.now() - startedAtMs);
      for (
        const due = (elapsedMs * perSecond) / 1000;
        asked < due && underWay.size < CLIENTS;
        asked += 1
      ) {
        const one = this.#ask().finally(() => underWay.delete(one));
        underWay.add(one);
      }
      if (elapsedMs >= ms) break;
      await sleep(PORTION_EVERY_MS);
    }
    await Promise.all(underWay);
  }

  async #ask(): Promise<void> {
    this.requests += 1;
    const n = Array.from({ length: 1 + this.#random.below(4) }, () => {
      return `+447700900${String(this.#random.below(1000)).padStart(3, '0')}`;
    });
    const body = JSON.stringify({ query: this.#random.pick(QUERIES), variables: { n } });
    const { status } = await this.#server.post(body, GIVEN_UP_AFTER_MS);
    this.statuses.add(String(status));
  }
}
