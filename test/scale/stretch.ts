import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { launchSimulator, type LaunchedSimulator } from '../../simulator/launch.ts';
import type { Counts } from '../../simulator/stats.ts';
import { TestIssuer } from '../caller/testIssuer.ts';
import { ServerProcess } from '../endToEnd/serverProcess.ts';
import { UNLIMITED_PROMPTS } from '../long/forkedServer.ts';
import { processUsage } from '../processUsage.ts';
import { keepAsking, Load, type Timed } from './load.ts';
import { startStore, type SharedStore, type StoreName } from './sharedStore.ts';
import { temporaryFolder } from '../temporary.ts';

export type Flow = '2-legged' | '3-legged';

/** One stretch: so many processes on a store, in one flow. */
export interface Stretch {
  readonly flow: Flow;
  readonly store: StoreName;
  readonly processes: number;
  readonly seconds: number;
}

/** What must be so, and what was counted. */
export interface Check {
  readonly what: string;
  readonly expected: string;
  readonly counted: string;
}

/** The result of a stretch. */
export interface Findings {
  readonly checks: readonly Check[];
  readonly lookups: number;
  readonly timed: Timed;
  /** Of the processor, per lookup, in milliseconds. */
  readonly processMs: number;
  readonly storeMs: number;
  readonly othersMs: number;
  /** What the store holds of a lookup afterwards, its quota's counts first of all. */
  readonly storeBytes: number;
  /** What a lookup takes in the audit log. */
  readonly auditBytes: number;
  /** The largest process. */
  readonly residentMib: number;
}

/** As many as the simulator's crowd has, of which the largest windows answer `false`. */
const CROWD = 10_000;
const AT_ONCE_PER_PROCESS = 24;
const WARM_UP_SECONDS = 2;
const WINDOW = 'simSwappedWithin(maxAgeHours: 240)';

/** Starts everything again, measures, and checks that nothing was lost, prompted twice or asked twice. */
export async function runStretch(stretch: Stretch): Promise<Findings> {
  await using stage = new AsyncDisposableStack();
  const issuer = await TestIssuer.start();
  stage.defer(() => issuer.close());
  const store = await startStore(stretch.store);
  stage.defer(store.stop);
  const simulator = await launchSimulator();
  stage.defer(() => simulator.stop());
  const folder = temporaryFolder();
  const settings = { ...issuer.settings, ...settingsOf(stretch, store), ...clientOf(simulator) };
  const auditLogs = Array.from({ length: stretch.processes }, (_, n) => join(folder, `${n}.jsonl`));
  const servers = await Promise.all(
    auditLogs.map((auditLog) =>
      ServerProcess.start(simulator.authUrl, {
        ...settings,
        OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
        AUDIT_LOG: auditLog,
      }),
    ),
  );
  for (const server of servers) stage.use(server);
  const load = new Load(
    servers.map(({ url }) => url),
    2 * AT_ONCE_PER_PROCESS,
  );
  stage.defer(() => load.close());
  return await new Running(stretch, { issuer, store, simulator, servers, auditLogs, load }).run();
}

interface Parts {
  readonly issuer: TestIssuer;
  readonly store: SharedStore;
  readonly simulator: LaunchedSimulator;
  readonly servers: readonly ServerProcess[];
  readonly auditLogs: readonly string[];
  readonly load: Load;
}

class Running {
  readonly #stretch: Stretch;
  readonly #parts: Parts;
  readonly #numbers = new Numbers();

  constructor(stretch: Stretch, parts: Parts) {
    this.#stretch = stretch;
    this.#parts = parts;
  }

  async run(): Promise<Findings> {
    const { flow, seconds } = this.#stretch;
    const { load, servers, store } = this.#parts;
    const exp = Math.floor(Date.now() / 1000) + 3600;
    const claims = { sub: 'load', client_id: 'scale', exp, scope: 'sim-swap:read' };
    const token = await this.#parts.issuer.token(claims);
    const atOnce = AT_ONCE_PER_PROCESS * servers.length;
    // In the 3-legged flow each number is asked about once: what it costs is a consent.
    const ask = () => load.ask({ token, number: this.#numbers.next(), field: WINDOW });
    await keepAsking(atOnce, WARM_UP_SECONDS, ask);

    await this.#zero();
    const before = this.#cpu();
    const [storeBefore, auditBefore] = [await store.usedBytes(), await this.#auditBytes()];
    const timed = await keepAsking(atOnce, seconds, ask);
    const after = this.#cpu();
    const [storeAfter, auditAfter] = [await store.usedBytes(), await this.#auditBytes()];
    const { lookups, doublePrompts } = await this.#counts();
    const perLookup = (name: keyof Cpu): number =>
      (1000 * (after[name] - before[name])) / Math.max(1, lookups);
    const unanswered = [...timed.told].filter(([code]) => code !== 'answered');
    const answered = timed.told.get('answered') ?? 0;
    return {
      checks: [
        check('requests under load that were not answered', 0, sumOf(unanswered.map(([, n]) => n))),
        check('lookups under load, for as many requests', answered, lookups),
        ...(flow === '3-legged' ? [check('double prompts under load', 0, doublePrompts)] : []),
      ],
      lookups,
      timed,
      processMs: perLookup('servers'),
      storeMs: perLookup('store'),
      othersMs: perLookup('own'),
      storeBytes: (storeAfter - storeBefore) / Math.max(1, lookups),
      auditBytes: (auditAfter - auditBefore) / Math.max(1, lookups),
      residentMib: Math.max(...servers.map(({ pid }) => processUsage(pid).residentMib)),
    };
  }

  async #counts(): Promise<Counts> {
    const response = await fetch(`${this.#parts.simulator.authUrl}/stats`);
    return (await response.json()) as Counts;
  }

  async #zero(): Promise<void> {
    await fetch(`${this.#parts.simulator.authUrl}/stats`, { method: 'DELETE' });
  }

  async #auditBytes(): Promise<number> {
    const files = await Promise.all(this.#parts.auditLogs.map((path) => stat(path)));
    return files.reduce((sum, { size }) => sum + size, 0);
  }

  #cpu(): Cpu {
    const { servers, store } = this.#parts;
    return {
      servers: secondsOf(servers.map(({ pid }) => pid)),
      store: secondsOf(store.pids),
      own: secondsOf([process.pid]),
    };
  }
}

function sumOf(all: readonly number[]): number {
  return all.reduce((one, other) => one + other, 0);
}

function secondsOf(pids: readonly number[]): number {
  return sumOf(pids.map((pid) => processUsage(pid).cpuSeconds));
}

function check(what: string, expected: number, counted: number): Check {
  return { what, expected: String(expected), counted: String(counted) };
}

interface Cpu {
  readonly servers: number;
  readonly store: number;
  /** What makes the load. */
  readonly own: number;
}

/** Numbers of the simulator's crowd that are answered `false`, in turn. */
class Numbers {
  #last = 0;

  next(): string {
    this.#last = (this.#last + 1) % CROWD;
    const area = Math.floor(this.#last / 90) % 100;
    const line = this.#last % 90;
    return `+12${String(area).padStart(2, '0')}55501${String(line).padStart(2, '0')}`;
  }
}

const MANY = '999999999';

function settingsOf(
  { flow }: Stretch,
  { settings }: SharedStore,
): Readonly<Record<string, string>> {
  return {
    ...settings,
    ...UNLIMITED_PROMPTS,
    NODE_ENV: 'production',
    AUDIT_KEY: randomBytes(32).toString('hex'),
    OPERATOR_FLOW: flow,
    QUOTA_NUMBERS_PER_HOUR: MANY,
    QUOTA_LOOKUPS_PER_HOUR: MANY,
    CONSENT_WAIT_MS: '10000',
    REQUEST_TIMEOUT_MS: '30000',
    OPERATOR_TIMEOUT_MS: '10000',
    KEEP_FACTS_SECONDS: flow === '3-legged' ? '1' : '0',
  };
}

function clientOf({ clientId, clientSecret }: LaunchedSimulator): Readonly<Record<string, string>> {
  return { OPERATOR_CLIENT_ID: clientId, OPERATOR_CLIENT_SECRET: clientSecret };
}
