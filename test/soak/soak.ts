import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { ChaosOperator } from '../chaos/chaosOperator.ts';
import { Random } from '../random.ts';
import { Truth } from '../chaos/truth.ts';
import { askingOperator, ForkedServer } from '../long/forkedServer.ts';
import type { ProbeFigures } from '../long/probe.ts';

export interface SoakRun {
  readonly minutes: number;
  readonly seed: number;
  readonly flow: '2-legged' | '3-legged';
}

export interface Findings {
  /** Requests a second that the whole set-up can take, and that it was given. */
  readonly capacity: number;
  readonly rate: number;
  readonly requests: number;
  readonly exchanges: number;
  readonly statuses: ReadonlyMap<string, number>;
  readonly faults: ReadonlyMap<string, number>;
  readonly baseline: ProbeFigures;
  readonly end: ProbeFigures;
}

const LOAD = 0.7;
const FAULT_SHARE = 0.05;
const OPERATOR_TIMEOUT_MS = 300;
const REQUEST_TIMEOUT_MS = 1000;
const CONNECTIONS = 128;
/** Load is given in portions: a timer for every request would be load of our own. */
const PORTION_EVERY_MS = 10;
/** Idle connections to the operator are kept for some seconds, then closed. */
const SETTLES_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 250;

export async function runSoak(run: SoakRun): Promise<Findings> {
  const random = new Random(run.seed);
  const operator = new ChaosOperator(new Truth(run.seed, Date.now()), new Random(run.seed + 1), {
    echoes: true,
    refusesOperations: run.flow === '2-legged',
    lateMs: OPERATOR_TIMEOUT_MS + 50,
    faultShare: FAULT_SHARE,
  });
  const server = await startProcess(run, await operator.listen());
  const load = new Load(server.url, random);
  const totalMs = run.minutes * 60_000;
  try {
    // Warmed up by all it can take, then by what it is to bear.
    await load.asFastAsItGoes(totalMs * 0.15);
    const capacity = await load.asFastAsItGoes(totalMs * 0.1);
    const rate = capacity * LOAD;
    await load.atRate(rate, totalMs * 0.15);
    await load.hangUp();
    const baseline = await settled(server, ({ sockets }) => sockets === 0);

    await load.atRate(rate, totalMs * 0.6);
    await load.hangUp();
    const end = await settled(
      server,
      ({ sockets, timers }) => sockets <= baseline.sockets && timers <= baseline.timers,
    );
    const { exchanges, faults } = operator;
    const { requests, statuses } = load;
    return { capacity, rate, requests, exchanges, statuses, faults, baseline, end };
  } finally {
    await load.hangUp();
    await server.stop();
    await operator.close();
  }
}

async function settled(
  server: ForkedServer,
  isSettled: (held: ProbeFigures) => boolean,
): Promise<ProbeFigures> {
  const untilMs = performance.now() + SETTLES_WITHIN_MS;
  for (;;) {
    const now = await server.figures();
    if (isSettled(now) || performance.now() > untilMs) return now;
    await sleep(LOOK_EVERY_MS);
  }
}

function startProcess({ flow }: SoakRun, operatorUrl: string): Promise<ForkedServer> {
  const settings = {
    ...askingOperator(operatorUrl, flow),
    OPERATOR_TIMEOUT_MS: String(OPERATOR_TIMEOUT_MS),
    REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS),
    CONSENT_WAIT_MS: '500',
  };
  return ForkedServer.start(settings);
}

/** Few documents, many numbers: what a server may keep is there after the warm-up. */
const QUERIES = [
  'query ($n: [ID!]!) { phoneNumbers(e164s: $n) { e164 lastSimSwap } }',
  'query ($n: [ID!]!) { phoneNumbers(e164s: $n) { e164 simSwappedWithin } }',
  'query ($n: [ID!]!) { phoneNumbers(e164s: $n) { lastSimSwap a: simSwappedWithin(maxAgeHours: 24) } }',
  'query ($n: [ID!]!) { phoneNumbers(e164s: $n) { a: simSwappedWithin(maxAgeHours: 24) b: simSwappedWithin(maxAgeHours: 720) c: simSwappedWithin(maxAgeHours: 2400) } }',
] as const;

class Load {
  requests = 0;
  readonly statuses = new Map<string, number>();
  readonly #url: string;
  readonly #random: Random;
  #pool: Pool | undefined;

  constructor(url: string, random: Random) {
    this.#url = url;
    this.#random = random;
  }

  /** Every client asks again when it has its answer; returns requests a second. */
  async asFastAsItGoes(ms: number): Promise<number> {
    const startedAtMs = performance.now();
    const before = this.requests;
    const client = async (): Promise<void> => {
      while (performance.now() < startedAtMs + ms) await this.#ask();
    };
    await Promise.all(Array.from({ length: CONNECTIONS / 2 }, client));
    return ((this.requests - before) * 1000) / (performance.now() - startedAtMs);
  }

  /** Asks so many times a second, however long the answers take. */
  async atRate(perSecond: number, ms: number): Promise<void> {
    const startedAtMs = performance.now();
    const underWay = new Set<Promise<void>>();
    let asked = 0;
    for (;;) {
      const elapsedMs = Math.min(ms, performance.now() - startedAtMs);
      for (const due = (elapsedMs * perSecond) / 1000; asked < due; asked += 1) {
        const one = this.#ask().finally(() => underWay.delete(one));
        underWay.add(one);
      }
      if (elapsedMs >= ms) break;
      await sleep(PORTION_EVERY_MS);
    }
    await Promise.all(underWay);
  }

  async hangUp(): Promise<void> {
    await this.#pool?.close();
    this.#pool = undefined;
  }

  async #ask(): Promise<void> {
    this.requests += 1;
    this.#pool ??= new Pool(this.#url, { connections: CONNECTIONS });
    const n = Array.from({ length: 1 + this.#random.below(4) }, () => {
      return `+447700900${String(this.#random.below(1000)).padStart(3, '0')}`;
    });
    const reply = await this.#pool.request({
      path: '/graphql',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: this.#random.pick(QUERIES), variables: { n } }),
    });
    await reply.body.dump();
    const status = String(reply.statusCode);
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }
}
