import { setInterval } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { AlertName } from '../../scripts/monitoring/rules.ts';
import { DEMO_CLIENT, startSimulator } from '../../src/simulator/simulator.ts';
import { TestIssuer } from '../caller/testIssuer.ts';
import { ServerProcess } from '../endToEnd/serverProcess.ts';
import { inForm } from '../forms.ts';
import { freePort } from '../freePort.ts';
import { freshStateKey, NO_REDIS, startRedis } from '../redisServer.ts';
import { startPrometheus } from './prometheus.ts';
import { NO_PROMETHEUS } from './promtool.ts';

type Settings = Readonly<Record<string, string>>;

/** What a fault changes of a service that is well. */
interface Manner {
  readonly settings?: Settings;
  /** Asked each time; a number that has not been asked about yet where absent. */
  readonly number?: string;
  readonly headers?: Settings;
  /** Once the service listens. */
  readonly breaks?: () => Promise<unknown>;
}

interface Fault {
  /** Exactly those that it raises: users feel some faults, and then the budget burns as well. */
  readonly alerts: readonly AlertName[];
  prepare(started: AsyncDisposableStack): Manner | Promise<Manner>;
}

const FAULTS = {
  none: { alerts: [], prepare: () => ({}) },
  'operator-away': {
    alerts: ['SimSwapErrorBudgetBurn', 'SimSwapOperatorDown'],
    async prepare() {
      const closed = `http://127.0.0.1:${await freePort()}`;
      return { settings: { OPERATOR_AUTH_URL: closed, OPERATOR_SIM_SWAP_URL: closed } };
    },
  },
  'credentials-refused': {
    alerts: ['SimSwapCredentialsRefused', 'SimSwapErrorBudgetBurn'],
    prepare: () => ({ settings: { OPERATOR_CLIENT_SECRET: 'not-the-secret' } }),
  },
  'owners-decline': {
    alerts: ['SimSwapConsentsFailing'],
    prepare: () => ({
      settings: { OPERATOR_FLOW: '3-legged', CONSENT_DENIED_SECONDS: '60' },
      number: '+447700900052',
    }),
  },
  'audit-log-full': {
    alerts: ['SimSwapAuditLogNotWritable', 'SimSwapErrorBudgetBurn'],
    prepare: () => ({ settings: { AUDIT_LOG: '/dev/full', AUDIT_KEY: freshStateKey() } }),
  },
  'quota-used-up': {
    alerts: ['SimSwapQuotaExhausted'],
    async prepare(started) {
      const issuer = await TestIssuer.start();
      started.defer(() => issuer.close());
      const token = await issuer.token({ scope: 'sim-swap:read' });
      return {
        settings: { ...issuer.settings, QUOTA_NUMBERS_PER_HOUR: '1' },
        headers: { authorization: `Bearer ${token}` },
      };
    },
  },
  'redis-away': {
    alerts: ['SimSwapErrorBudgetBurn', 'SimSwapSharedStateLost'],
    async prepare() {
      const redis = await startRedis();
      const settings = { REDIS_URL: redis.url, STATE_KEY: freshStateKey() };
      return {
        settings: { ...settings, OPERATOR_FLOW: '3-legged' },
        breaks: () => redis.kill(),
      };
    },
  },
} as const satisfies Readonly<Record<string, Fault>>;

type FaultName = keyof typeof FAULTS;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its own names
const ALL = Object.keys(FAULTS) as readonly FaultName[];
const IN_SHORT: readonly FaultName[] = ['none', 'credentials-refused'];

/** A service with a fault, in a process of its own as diagnostics channels are one for a process. */
interface Faulty {
  readonly name: FaultName;
  readonly port: number;
  readonly ask: (turn: number) => Promise<unknown>;
}

async function startFaulty(name: FaultName, started: AsyncDisposableStack): Promise<Faulty> {
  const fault: Fault = FAULTS[name];
  const { settings, number, headers, breaks } = await fault.prepare(started);
  const simulator = await startSimulator({ port: 0 });
  started.defer(() => simulator.close());
  const port = await freePort();
  const server = await ServerProcess.start(simulator.authUrl, {
    PORT: String(port),
    METRICS_PORT: String(port),
    OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
    OPERATOR_CLIENT_ID: DEMO_CLIENT.clientId,
    OPERATOR_CLIENT_SECRET: DEMO_CLIENT.clientSecret,
    ...settings,
  });
  started.use(server);
  await breaks?.();
  const ask = (turn: number): Promise<unknown> =>
    fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query: ASK, variables: { n: number ?? numberOf(turn) } }),
    }).then((response) => response.text());
  return { name, port, ask };
}

const ASK = 'query ($n: ID!) { phoneNumber(e164: $n) { simSwappedWithin } }';

/** A number of the simulator's crowd that has not been asked about yet. */
function numberOf(turn: number): string {
  return `+12${10 + (Math.floor(turn / 80) % 90)}55501${String(turn % 80).padStart(2, '0')}`;
}

const LEFT_OUT = NO_PROMETHEUS ?? NO_REDIS;

/** 100 ms each: long enough for alerts that should not be raised, and an end where one is missing. */
const MIN_TURNS = 100;
const MAX_TURNS = 600;

describe.skipIf(LEFT_OUT !== undefined)(`a real Prometheus ${LEFT_OUT ?? ''}`, () => {
  it('raises for each fault its alerts and no others', { timeout: 180_000 }, async () => {
    const names = inForm({ short: 0, long: 1 }) === 1 ? ALL : IN_SHORT;
    await using started = new AsyncDisposableStack();
    const all = await Promise.all(names.map((name) => startFaulty(name, started)));
    const jobs = Object.fromEntries(all.map(({ name, port }) => [name, `127.0.0.1:${port}`]));
    const prometheus = started.use(await startPrometheus(jobs));

    const raised = new Map(names.map((name) => [name, new Set<string>()]));
    const asked: Promise<unknown>[] = [];
    let turn = 0;
    for await (const _ of setInterval(100)) {
      turn += 1;
      // Each in its own time: what one of them waits for does not hold up the others.
      asked.push(...all.map((one) => one.ask(turn)));
      for (const [name, alerts] of raised) {
        for (const alert of await prometheus.firing(name)) alerts.add(alert);
      }
      const isAll = [...raised].every(([name, { size }]) => size >= FAULTS[name].alerts.length);
      if ((isAll && turn >= MIN_TURNS) || turn === MAX_TURNS) break;
    }
    await Promise.allSettled(asked);
    const told = [...raised].map(([name, alerts]) => [name, [...alerts].toSorted()]);
    const expected = names.map((name) => [name, [...FAULTS[name].alerts]]);
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(expected));
  });
});
