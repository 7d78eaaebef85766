import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Pool } from 'undici';
import { laidOut } from '../../bench/report/markdown.ts';
import { launchSimulator } from '../../simulator/launch.ts';
import type { Counts } from '../../simulator/stats.ts';
import { TestIssuer } from '../caller/testIssuer.ts';
import { ServerProcess } from '../endToEnd/serverProcess.ts';
import { processUsage } from '../support/processUsage.ts';
import { RedisClusterServers } from '../support/redisCluster.ts';
import { command } from '../support/redisCommands.ts';
import { freshStateKey, startRedis } from '../support/redisServer.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { UNLIMITED_PROMPTS } from './settings.ts';
import { Counts as Tally } from './counts.ts';
import { duration, longRun, report, someOf, tallied, wrongIf, type Row } from './longRun.ts';

const FLOWS = ['2-legged', '3-legged'] as const;
const STORES = ['redis', 'cluster'] as const;

/** One stretch: so many processes on a store, in one flow. */
interface Stretch {
  readonly flow: (typeof FLOWS)[number];
  readonly store: (typeof STORES)[number];
  readonly processes: number;
  readonly seconds: number;
}

/** As many as the simulator's crowd has, of which the largest windows answer `false`. */
const CROWD = 10_000;
const AT_ONCE_PER_PROCESS = 24;
const WARM_UP_SECONDS = 2;
const MANY = '999999999';

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

export const scale = longRun({
  about: 'what lookups cost over several processes on one Redis',
  options: {
    processes: someOf('how many processes share a Redis', ['1', '2', '4']),
    store: someOf('the store', STORES),
    flow: someOf('the flow', FLOWS),
    seconds: duration('how long each is measured', 10),
  },
  short: ['--processes', '2', '--store', 'redis', '--seconds', '1'],
  needsRedis: true,
  async *run({ processes: all, store: stores, flow: flows, seconds }) {
    const rows: string[][] = [];
    for (const flow of flows) {
      for (const store of stores) {
        for (const processes of all) {
          const { wrong, figures } = await measured({
            flow,
            store,
            processes: Number(processes),
            seconds,
          });
          yield wrongIf(wrong);
          rows.push([flow, store, processes, ...figures]);
        }
      }
    }
    process.stdout.write(`\n${laidOut([HEADS, ...rows])}\n`);
  },
});

/** Starts new processes, measures, and checks that no request was lost, prompted twice or looked up twice. */
async function measured(stretch: Stretch): Promise<{ wrong: boolean; figures: readonly string[] }> {
  const { flow, processes, seconds } = stretch;
  await using stage = new AsyncDisposableStack();
  const issuer = await TestIssuer.start();
  stage.defer(() => issuer.close());
  const store = await startStore(stretch.store);
  stage.defer(store.stop);
  const simulator = await launchSimulator();
  stage.defer(() => simulator.stop());
  const folder = temporaryFolder();
  const auditLogs = Array.from({ length: processes }, (_, n) => join(folder, `${n}.jsonl`));
  const settings = {
    ...issuer.settings,
    ...settingsOf(flow),
    REDIS_URL: store.url,
    OPERATOR_CLIENT_ID: simulator.clientId,
    OPERATOR_CLIENT_SECRET: simulator.clientSecret,
    OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
  };
  const servers = await Promise.all(
    auditLogs.map((auditLog) =>
      ServerProcess.start(simulator.authUrl, { ...settings, AUDIT_LOG: auditLog }),
    ),
  );
  for (const server of servers) stage.use(server);
  const connections = 2 * AT_ONCE_PER_PROCESS;
  const pools = servers.map(({ url }) => new Pool(url, { connections, bodyTimeout: 60_000 }));
  for (const pool of pools) stage.defer(() => pool.destroy());
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const claims = { sub: 'load', client_id: 'scale', exp, scope: 'sim-swap:read' };
  const token = await issuer.token(claims);
  const askNext = asking(pools, token);
  const atOnce = AT_ONCE_PER_PROCESS * processes;
  await keepAsking(atOnce, WARM_UP_SECONDS, askNext);

  const stats = `${simulator.authUrl}/stats`;
  await fetch(stats, { method: 'DELETE' });
  const held = async () => {
    const logs = await Promise.all(auditLogs.map((path) => stat(path)));
    return { store: await store.usedBytes(), audit: sumOf(logs.map(({ size }) => size)) };
  };
  const cpu = () => ({
    servers: secondsOf(servers.map(({ pid }) => pid)),
    store: secondsOf(store.pids),
    own: secondsOf([process.pid]),
  });
  const [cpuBefore, heldBefore] = [cpu(), await held()];
  const { heard, latencies, tookSeconds } = await keepAsking(atOnce, seconds, askNext);
  const [cpuAfter, heldAfter] = [cpu(), await held()];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the simulator reports them
  const { lookups, doublePrompts } = (await (await fetch(stats)).json()) as Counts;

  const answered = heard.of('answered');
  const unanswered = sumOf([...heard.values()]) - answered;
  const checks: readonly (readonly [what: string, expected: number, counted: number])[] = [
    ['requests under load that were not answered', 0, unanswered],
    ['lookups under load, for as many requests', answered, lookups],
    ['double prompts under load', 0, flow === '3-legged' ? doublePrompts : 0],
  ];
  report(
    `${flow}, ${processes} of it on ${stretch.store === 'redis' ? 'one Redis' : 'a cluster'}`,
    [
      ...checks.map(([what, expected, counted]): Row => {
        const isHeld = expected === counted;
        return [
          `${isHeld ? 'held' : 'WRONG'}: ${what}`,
          counted,
          ...(isHeld ? [] : [`not ${expected}`]),
        ];
      }),
      ...tallied('under load', heard),
    ],
  );

  const per = (amount: number): number => amount / Math.max(1, lookups);
  const msPer = (name: keyof ReturnType<typeof cpu>): number =>
    per(1000 * (cpuAfter[name] - cpuBefore[name]));
  const at = (share: number): string =>
    (latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(0);
  const residentMib = Math.max(...servers.map(({ pid }) => processUsage(pid).residentMib));
  return {
    wrong: checks.some(([, expected, counted]) => expected !== counted),
    figures: [
      (lookups / tookSeconds).toFixed(0),
      at(0.5),
      at(0.99),
      msPer('servers').toFixed(2),
      (1000 / msPer('servers')).toFixed(0),
      msPer('store').toFixed(3),
      (1000 / msPer('store')).toFixed(0),
      msPer('own').toFixed(2),
      per(heldAfter.store - heldBefore.store).toFixed(0),
      per(heldAfter.audit - heldBefore.audit).toFixed(0),
      residentMib.toFixed(0),
    ],
  };
}

/** Sends the next request to the next process, as a load balancer does; resolves to `answered`, or to its first code. */
function asking(pools: readonly Pool[], token: string): () => Promise<string> {
  let sent = 0;
  return async () => {
    sent += 1;
    const pool = pools[sent % pools.length];
    if (pool === undefined) throw new Error('There is no such process.');
    // In the 3-legged flow each number is queried once, so that each request takes a consent.
    const index = sent % CROWD;
    const [area, line] = [Math.floor(index / 90) % 100, index % 90];
    const number = `+12${String(area).padStart(2, '0')}55501${String(line).padStart(2, '0')}`;
    const query = `{ phoneNumber(e164: "${number}") { simSwappedWithin(maxAgeHours: 240) } }`;
    const reply = await pool.request({
      path: '/graphql',
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query }),
    });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a reply of GraphQL
    const { errors } = (await reply.body.json()) as {
      readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[];
    };
    return errors === undefined ? 'answered' : (errors[0]?.extensions?.code ?? '?');
  };
}

/** Keeps so many requests in flight until the time is over. */
async function keepAsking(atOnce: number, seconds: number, ask: () => Promise<string>) {
  const startedAtMs = performance.now();
  const heard = new Tally();
  const latencies: number[] = [];
  const worker = async (): Promise<void> => {
    while (performance.now() < startedAtMs + seconds * 1000) {
      const sentAtMs = performance.now();
      heard.add(await ask());
      latencies.push(performance.now() - sentAtMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const tookSeconds = (performance.now() - startedAtMs) / 1000;
  return { tookSeconds, heard, latencies: latencies.toSorted((a, b) => a - b) };
}

async function startStore(name: Stretch['store']) {
  if (name === 'redis') {
    const server = await startRedis();
    const { url, port, pid } = server;
    return { url, pids: [pid], usedBytes: () => usedBytes([port]), stop: () => server.kill() };
  }
  // Load is not a reason to replace a master.
  const servers = await RedisClusterServers.start({ replicas: true, nodeTimeoutMs: 15_000 });
  const { url, ports, pids } = servers;
  return { url, pids, usedBytes: () => usedBytes(ports), stop: () => servers.stop() };
}

/** What servers hold, replicas included. */
async function usedBytes(ports: readonly number[]): Promise<number> {
  const all = await Promise.all(ports.map((port) => command(port, ['INFO', 'memory'])));
  return sumOf(all.map((info) => Number(/^used_memory:(\d+)/m.exec(String(info))?.[1])));
}

function sumOf(all: readonly number[]): number {
  return all.reduce((one, other) => one + other, 0);
}

function secondsOf(pids: readonly number[]): number {
  return sumOf(pids.map((pid) => processUsage(pid).cpuSeconds));
}

function settingsOf(flow: Stretch['flow']): Readonly<Record<string, string>> {
  return {
    ...UNLIMITED_PROMPTS,
    NODE_ENV: 'production',
    STATE_KEY: freshStateKey(),
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
