import { connect } from 'node:net';
import { setInterval, setTimeout } from 'node:timers/promises';
import { describe, expect, it, test } from 'vitest';
import { DEMO_CLIENT, startSimulator } from '../../simulator/simulator.ts';
import { TestIssuer } from '../caller/testIssuer.ts';
import { ServerProcess } from '../endToEnd/serverProcess.ts';
import { textOf } from '../support/documents.ts';
import { IS_LONG } from '../support/forms.ts';
import { freePort } from '../support/freePort.ts';
import { command } from '../support/redisCommands.ts';
import { freshStateKey, NO_REDIS, startRedis, type RedisServer } from '../support/redisServer.ts';
import { RedisProxy } from '../support/redisProxy.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { answerNever, answerText, replying, WiredOperator } from '../support/wiredOperator.ts';
import { NO_PROMETHEUS, startPrometheus } from './prometheus.ts';
import { NO_COMPILER, slowDisk } from './slowWrites.ts';

type Settings = Readonly<Record<string, string>>;

/** What a fault changes in a healthy service. */
interface Manner {
  readonly settings?: Settings;
  /** The number of each query; a new one where absent. */
  readonly number?: string;
  /** How many numbers a query has; one where absent. */
  readonly numbers?: number;
  readonly headers?: Settings;
  /** A command that runs the service. */
  readonly prefix?: readonly string[];
  /** Once it has been scraped. */
  readonly breaks?: (server: ServerProcess) => unknown;
  /** At the end, so that the service can write its line. */
  readonly heals?: (server: ServerProcess) => unknown;
}

interface Fault {
  /** Exactly those that it raises: a fault that users notice burns the budget as well. */
  readonly alerts: readonly string[];
  /** In the log; absent where no process is left to write it. */
  readonly line?: string;
  /** Of the line of a request. */
  readonly codes?: string;
  prepare(started: AsyncDisposableStack): Manner | Promise<Manner>;
}

/** A Redis, and a service that shares it. */
async function withRedis(
  started: AsyncDisposableStack,
  flow: '2-legged' | '3-legged',
  breaks: (redis: RedisServer) => Promise<unknown>,
): Promise<Manner> {
  const redis = await startRedis();
  started.defer(() => redis.kill());
  const settings = { REDIS_URL: redis.url, STATE_KEY: freshStateKey(), OPERATOR_FLOW: flow };
  return { settings, breaks: () => breaks(redis) };
}

/** A service of an operator with these answers to lookups. */
async function withOperator(
  started: AsyncDisposableStack,
  lookUp: typeof answerNever,
  settings: Settings = {},
): Promise<Manner> {
  const operator = started.use(await WiredOperator.start({ lookUp }));
  return { settings: { ...operator.settings, ...settings } };
}

async function withIssuer(started: AsyncDisposableStack): Promise<TestIssuer> {
  const issuer = await TestIssuer.start();
  started.defer(() => issuer.close());
  return issuer;
}

async function bearer(issuer: TestIssuer): Promise<Settings> {
  return { authorization: `Bearer ${await issuer.token({ scope: 'sim-swap:read' })}` };
}

const CIRCUIT_OPEN =
  'The circuit is open: the operator is not called, except for a trial every few seconds.';

const FAULTS = {
  none: { alerts: [], prepare: () => ({}) },
  // Many answers at the same time are not a failing disk.
  crowd: {
    alerts: [],
    prepare: () => ({
      settings: { AUDIT_LOG: '/dev/null', AUDIT_KEY: freshStateKey() },
      numbers: 20,
    }),
  },
  'operator-away': {
    alerts: ['SimSwapErrorBudgetBurn', 'SimSwapOperatorDown'],
    line: CIRCUIT_OPEN,
    async prepare() {
      const closed = `http://127.0.0.1:${await freePort()}`;
      return { settings: { OPERATOR_AUTH_URL: closed, OPERATOR_SIM_SWAP_URL: closed } };
    },
  },
  'operator-slow': {
    alerts: ['SimSwapOperatorSlow'],
    line: 'The operator took more than a second to reply.',
    prepare: (started) =>
      withOperator(
        started,
        (received, response) => void setTimeout(1200).then(() => answerNever(received, response)),
      ),
  },
  'operator-hangs': {
    alerts: ['SimSwapErrorBudgetBurn', 'SimSwapOperatorDown'],
    line: CIRCUIT_OPEN,
    prepare: (started) => withOperator(started, () => undefined, { OPERATOR_TIMEOUT_MS: '300' }),
  },
  'operator-sends-no-json': {
    alerts: ['SimSwapErrorBudgetBurn', 'SimSwapOperatorDown'],
    line: CIRCUIT_OPEN,
    prepare: (started) =>
      withOperator(started, (received, response) => answerText(received, response, '<html>')),
  },
  'operator-limits-us': {
    alerts: ['SimSwapErrorBudgetBurn'],
    line: 'Rate-limited by the operator.',
    prepare: () => ({ number: '+447700900012' }),
  },
  'credentials-refused': {
    alerts: ['SimSwapCredentialsRefused', 'SimSwapErrorBudgetBurn'],
    line: 'The operator refused our request.',
    prepare: () => ({ settings: { OPERATOR_CLIENT_SECRET: 'not-the-secret' } }),
  },
  'owners-decline': {
    alerts: ['SimSwapConsentsFailing'],
    line: 'request',
    codes: 'CONSENT_DENIED',
    prepare: () => ({
      settings: { OPERATOR_FLOW: '3-legged', CONSENT_DENIED_SECONDS: '60' },
      number: '+447700900052',
    }),
  },
  'operator-limits-us-after-consent': {
    alerts: ['SimSwapErrorBudgetBurn', 'SimSwapPromptsInVain'],
    line: 'Rate-limited by the operator.',
    prepare: (started) =>
      withOperator(
        started,
        (received, response) => {
          response.setHeader('retry-after', '1');
          replying({ status: 429, code: 'TOO_MANY_REQUESTS' }, 429)(received, response);
        },
        { OPERATOR_FLOW: '3-legged' },
      ),
  },
  'audit-log-full': {
    alerts: ['SimSwapAuditLogNotWritable', 'SimSwapErrorBudgetBurn'],
    line: 'The audit log cannot be written. Check the disk or the reader of AUDIT_LOG.',
    prepare: () => ({ settings: { AUDIT_LOG: '/dev/full', AUDIT_KEY: freshStateKey() } }),
  },
  'audit-log-slow': {
    alerts: ['SimSwapAuditLogSlow'],
    line: 'A write to the audit log took more than half a second.',
    prepare() {
      const { file, prefix } = slowDisk(700);
      return { settings: { AUDIT_LOG: file, AUDIT_KEY: freshStateKey() }, prefix };
    },
  },
  // No line: the log is written to the same output.
  'audit-log-output-closed': {
    alerts: ['SimSwapAuditLogNotWritable', 'SimSwapErrorBudgetBurn', 'SimSwapLogLinesLost'],
    prepare: () => ({
      settings: { AUDIT_KEY: freshStateKey() },
      breaks: (server) => server.stdout.destroy(),
    }),
  },
  'quota-used-up': {
    alerts: ['SimSwapQuotaExhausted'],
    line: 'request',
    codes: 'RATE_LIMITED',
    async prepare(started) {
      const issuer = await withIssuer(started);
      return {
        settings: { ...issuer.settings, QUOTA_NUMBERS_PER_HOUR: '1' },
        headers: await bearer(issuer),
      };
    },
  },
  'issuer-keys-away': {
    alerts: ['SimSwapCallersRefused'],
    line: 'The keys of JWT_JWKS_URL cannot be fetched.',
    async prepare(started) {
      const issuer = await withIssuer(started);
      const JWT_JWKS_URL = `http://127.0.0.1:${await freePort()}/jwks`;
      return { settings: { ...issuer.settings, JWT_JWKS_URL }, headers: await bearer(issuer) };
    },
  },
  'issuer-keys-wrong': {
    alerts: ['SimSwapCallersRefused'],
    line: "A caller's access token was refused.",
    async prepare(started) {
      const [issuer, other] = [await withIssuer(started), await withIssuer(started)];
      return { settings: issuer.settings, headers: await bearer(other) };
    },
  },
  'issuer-keys-empty': {
    alerts: ['SimSwapCallersRefused'],
    line: 'The keys of JWT_JWKS_URL cannot be fetched.',
    async prepare(started) {
      const issuer = await withIssuer(started);
      const headers = await bearer(issuer);
      issuer.keys = [];
      return { settings: issuer.settings, headers };
    },
  },
  'redis-away': {
    alerts: ['SimSwapErrorBudgetBurn', 'SimSwapSharedStateLost'],
    line: 'The shared store is lost.',
    prepare: (started) => withRedis(started, '3-legged', (redis) => redis.kill()),
  },
  'redis-away-2-legged': {
    alerts: ['SimSwapSharedStateLost'],
    line: 'The shared store is lost.',
    prepare: (started) => withRedis(started, '2-legged', (redis) => redis.kill()),
  },
  'redis-emptied': {
    alerts: ['SimSwapConsentsInDoubt'],
    line: 'The shared store has lost consents (it was emptied, evicts, or a replica took over without the last writes): no owner of its numbers is prompted until the doubt ends.',
    prepare: (started) =>
      withRedis(started, '3-legged', (redis) => command(redis.port, ['FLUSHALL'])),
  },
  'redis-full': {
    alerts: ['SimSwapErrorBudgetBurn', 'SimSwapSharedStoreFull'],
    line: 'The shared store is full: no owner is prompted, facts are not kept, and each replica counts quotas by itself. Give it more memory (maxmemory).',
    prepare: (started) =>
      withRedis(started, '3-legged', (redis) =>
        command(redis.port, ['CONFIG', 'SET', 'maxmemory', '1']),
      ),
  },
  'redis-slow': {
    alerts: ['SimSwapSharedStoreSlow'],
    line: 'A command took the shared store more than 0.2 seconds.',
    async prepare(started) {
      const redis = await startRedis();
      started.defer(() => redis.kill());
      const proxy = await RedisProxy.before(redis.port);
      started.defer(() => proxy.close());
      const issuer = await withIssuer(started);
      return {
        settings: { ...issuer.settings, REDIS_URL: proxy.url, STATE_KEY: freshStateKey() },
        headers: await bearer(issuer),
        breaks() {
          proxy.delayMs = 700;
        },
      };
    },
  },
  'secret-file-unusable': {
    alerts: ['SimSwapFilesUnusable'],
    line: 'Files have changed and cannot be used: the old contents stay in use.',
    prepare() {
      const files = new TemporaryFiles();
      const OPERATOR_CLIENT_SECRET_FILE = files.write('secret', DEMO_CLIENT.clientSecret);
      return {
        // Only an entry of OPERATORS_FILE has the file in place of the secret.
        settings: { OPERATOR_DATE_MARGIN_HOURS: '1', OPERATOR_CLIENT_SECRET_FILE },
        breaks: () => files.write('secret', ''),
      };
    },
  },
  'collector-away': {
    alerts: ['SimSwapTracesLost'],
    line: 'Spans could not be sent. Check the collector at OTEL_EXPORTER_OTLP_ENDPOINT.',
    async prepare() {
      const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${await freePort()}`;
      return { settings: { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TIMEOUT: '500' } };
    },
  },
  'process-gone': {
    alerts: ['SimSwapProcessGone'],
    prepare: () => ({ breaks: (server) => server.signal('SIGKILL') }),
  },
  'loop-held-up': {
    alerts: ['SimSwapEventLoopHeldUp'],
    line: 'The event loop was held up.',
    prepare(started) {
      const ended = new AbortController();
      started.defer(() => ended.abort());
      const holdUp = async (server: ServerProcess): Promise<void> => {
        const { signal } = ended;
        for await (const _ of setInterval(3000, undefined, { signal })) {
          server.signal('SIGSTOP');
          await setTimeout(700);
          server.signal('SIGCONT');
        }
      };
      return { breaks: (server) => void holdUp(server).catch(() => undefined) };
    },
  },
  'descriptors-run-out': {
    alerts: ['SimSwapDescriptorsRunOut'],
    line: 'File descriptors are running out. Raise the limit (ulimit -n).',
    prepare: (started) => ({
      prefix: ['prlimit', '--nofile=128'],
      breaks(server) {
        const port = Number(new URL(server.url).port);
        const sockets = Array.from({ length: 90 }, () => connect(port, '127.0.0.1'));
        for (const socket of sockets) socket.on('error', () => undefined);
        started.defer(() => {
          for (const socket of sockets) socket.destroy();
        });
      },
    }),
  },
  'log-not-read': {
    alerts: ['SimSwapLogLinesLost'],
    line: 'Lines of the log were lost: the reader of standard output was too slow.',
    prepare: () => ({
      settings: { LOG_LEVEL: 'debug' },
      numbers: 20,
      breaks: (server) => server.stdout.pause(),
      heals: (server) => server.stdout.resume(),
    }),
  },
} as const satisfies Readonly<Record<string, Fault>>;

type FaultName = keyof typeof FAULTS;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its own names
const ALL = Object.keys(FAULTS) as readonly FaultName[];

/** A service with a fault, in a process of its own as diagnostics channels are one for a process. */
interface Faulty {
  readonly name: FaultName;
  readonly port: number;
  readonly server: ServerProcess;
  readonly manner: Manner;
  /** Asks about further numbers, unless so many wait that a slow machine would only fall behind. */
  readonly ask: (turn: number) => Promise<unknown>;
}

/** A service waits for the answers about so many numbers at once: those of one crowd. */
const MAX_ASKED_NUMBERS = 20;

async function startFaulty(name: FaultName, started: AsyncDisposableStack): Promise<Faulty> {
  const fault: Fault = FAULTS[name];
  const manner = await fault.prepare(started);
  const { settings, number, numbers = 1, headers, prefix } = manner;
  const simulator = await startSimulator({ port: 0 });
  started.defer(() => simulator.close());
  const port = await freePort();
  const server = await ServerProcess.start(
    simulator.authUrl,
    {
      METRICS_PORT: String(port),
      OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
      OPERATOR_CLIENT_ID: DEMO_CLIENT.clientId,
      OPERATOR_CLIENT_SECRET: DEMO_CLIENT.clientSecret,
      ...settings,
    },
    prefix,
  );
  started.use(server);
  let asked = 0;
  const ask = async (turn: number): Promise<unknown> => {
    if (asked + numbers > MAX_ASKED_NUMBERS) return undefined;
    const n = Array.from(
      { length: numbers },
      (_, index) => number ?? numberOf(turn * numbers + index),
    );
    asked += numbers;
    try {
      return await server.ask(ASK, { n }, headers);
    } finally {
      asked -= numbers;
    }
  };
  return { name, port, server, manner, ask };
}

const ASK = 'query ($n: [ID!]!) { phoneNumbers(e164s: $n) { simSwappedWithin } }';

/** A further number of the simulator's crowd. */
function numberOf(turn: number): string {
  return `+12${10 + (Math.floor(turn / 80) % 90)}55501${String(turn % 80).padStart(2, '0')}`;
}

test('monitoring/README.md has each fault, with its alerts and its line', () => {
  const rows = Object.entries<Fault>(FAULTS)
    .filter(([name]) => name !== 'none')
    .map(([name, { alerts, line, codes }]) => [
      name.replaceAll('-', ' '),
      alerts.join(', '),
      line === undefined
        ? ''
        : `\`${wordsToSearch(line)}\`${codes === undefined ? '' : ` with \`${codes}\``}`,
    ]);
  const [, section = ''] = textOf('monitoring/README.md').split('\n## Faults tried\n');
  const shown = section
    .split('\n## ', 1)
    .flatMap((text) => [...text.matchAll(/^\| (.*?) *\| (.*?) *\| (.*?) *\|$/gm)])
    .map(([, ...cells]) => cells);

  expect(shown.slice(2)).toEqual(rows);
});

/** The line up to its first colon, bracket or full stop: enough to find it in a log. */
function wordsToSearch(line: string): string {
  return line.replace(/ \(.*|:.*|\.(?= |$).*/, '');
}

const LEFT_OUT = NO_PROMETHEUS ?? NO_REDIS ?? NO_COMPILER;

/** As many services as a machine of two cores runs without delaying their scrapes. */
const AT_ONCE = 7;
const GROUPS = ALL.flatMap((_, index) =>
  index % AT_ONCE === 0 ? [ALL.slice(index, index + AT_ONCE)] : [],
);

const TURN_MS = 300;
/** Long enough for alerts that should not be raised, and an end where one is missing. */
const MIN_TURNS = 80;
const MAX_TURNS = 300;

/** How often each service returned which codes: why an alert was raised that should not have been. */
function codesOf(all: readonly Faulty[]): string {
  return JSON.stringify(
    all.map(({ name, server }) => {
      const codes: Record<string, number> = {};
      for (const line of server.logged('request')) {
        const code = String(line['codes'] ?? line['status']);
        codes[code] = (codes[code] ?? 0) + 1;
      }
      return { name, codes };
    }),
  );
}

// In npm test, files.test.ts holds the rules against a real scrape, and promtool against series.
describe.skipIf(!IS_LONG || LEFT_OUT !== undefined)(`a real Prometheus ${LEFT_OUT ?? ''}`, () => {
  it.for(GROUPS.map((group) => [group] as const))(
    'raises for each fault its alerts and no others: %s',
    { timeout: 300_000 },
    async ([group], { signal, onTestFailed }) => {
      await using started = new AsyncDisposableStack();
      const starting = group.map((name) => startFaulty(name, started));
      // All have started or failed before any is stopped.
      await Promise.allSettled(starting);
      const all = await Promise.all(starting);
      onTestFailed(() => void process.stderr.write(`${codesOf(all)}\n`));
      const jobs = Object.fromEntries(all.map(({ name, port }) => [name, `127.0.0.1:${port}`]));
      const prometheus = started.use(await startPrometheus(jobs));

      const raised = new Map<string, Set<string>>(group.map((name) => [name, new Set()]));
      const asked: Promise<unknown>[] = [];
      let turn = 0;
      let isBroken = false;
      // Aborted when the test is out of time, so that it leaves nothing running.
      for await (const _ of setInterval(TURN_MS, undefined, { signal })) {
        turn += 1;
        if (!isBroken && (await prometheus.hasScraped())) {
          isBroken = true;
          turn = 0;
          await Promise.all(all.map(({ manner, server }) => manner.breaks?.(server)));
        }
        // Each by itself: one that waits does not delay the others.
        asked.push(...all.map((one) => one.ask(turn).catch(() => undefined)));
        for (const [job, alert] of await prometheus.firing()) raised.get(job)?.add(alert);
        const isAll = group.every(
          (name) => (raised.get(name)?.size ?? 0) >= FAULTS[name].alerts.length,
        );
        if ((isBroken && isAll && turn >= MIN_TURNS) || turn === MAX_TURNS) break;
      }
      for (const { manner, server } of all) await manner.heals?.(server);
      await Promise.all(asked);
      await Promise.all(all.map((one) => one.ask(turn + 1).catch(() => undefined)));
      // Only what differs: a report is cut short.
      const others = group.flatMap((name) => {
        const found = [...(raised.get(name) ?? [])].toSorted().join(', ');
        return found === FAULTS[name].alerts.join(', ') ? [] : [`${name}: ${found}`];
      });
      expect(others).toEqual([]);
      const unwritten = (): unknown =>
        all.flatMap(({ name, server }) => {
          const fault: Fault = FAULTS[name];
          const { line, codes } = fault;
          if (line === undefined) return [];
          const lines = server.logged(line);
          return lines.some((one) => codes === undefined || one['codes'] === codes) ? [] : [name];
        });
      await expect.poll(unwritten).toEqual([]);
    },
  );
});
