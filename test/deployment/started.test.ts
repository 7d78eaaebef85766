import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { launchSimulator } from '../../simulator/launch.ts';
import { stopLimitMs } from '../../src/app/server.ts';
import { TestIssuer } from '../caller/testIssuer.ts';
import { freePort } from '../freePort.ts';
import { Program } from '../program.ts';
import { NO_REDIS, startRedis } from '../redisServer.ts';
import { askAt } from '../service.ts';
import { manifestsOf, podsOf, settingsOf, type Variant } from './files.ts';
import { temporaryFolder } from '../temporary.ts';

/** Where the Secret and the ConfigMap are in the container. */
const SECRETS_PATH = '/run/secrets/sim-swap';
const SETTINGS_PATH = '/etc/sim-swap';

/** What the tests read of a pod. */
interface Pod {
  readonly environment: Readonly<Record<string, string>>;
  readonly settingsFiles: Readonly<Record<string, string>>;
  readonly probes: readonly string[];
  readonly preStopSeconds: number;
  readonly terminationSeconds: number;
}

function podOf(variant: Variant): Pod {
  const settings = manifestsOf(variant).find(({ kind }) => kind === 'ConfigMap');
  const [{ spec }] = podsOf(variant);
  const [container] = spec.containers;
  const { startupProbe, livenessProbe, readinessProbe, lifecycle } = container;
  return {
    environment: settingsOf(container),
    settingsFiles: settings?.['data'] as Readonly<Record<string, string>>,
    probes: [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path),
    preStopSeconds: lifecycle.preStop.sleep.seconds,
    terminationSeconds: spec.terminationGracePeriodSeconds,
  };
}

/** A pod's files, in a folder of this machine, and its environment with their paths there. */
async function mounted(
  pod: Pod,
  folder: string,
  secrets: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  for (const [path, files] of [
    [SETTINGS_PATH, pod.settingsFiles],
    [SECRETS_PATH, secrets],
  ] as const) {
    await mkdir(folder + path, { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      const here = text.replaceAll(SECRETS_PATH, folder + SECRETS_PATH);
      await writeFile(join(folder + path, name), here);
    }
  }
  const here = (value: string): string =>
    value.startsWith(SECRETS_PATH) || value.startsWith(SETTINGS_PATH) ? folder + value : value;
  return Object.fromEntries(
    Object.entries(pod.environment).map(([name, value]) => [name, here(value)]),
  );
}

const ROUTER_SECRET = 'a-router-secret-of-thirty-two-characters-and-more';

it.skipIf(NO_REDIS !== undefined).each([
  [
    'subgraph',
    '{ _entities(representations: [{ __typename: "PhoneNumber", e164: "+447700900001" }]) { ... on PhoneNumber { simSwappedWithin(maxAgeHours: 240) } } }',
    { _entities: [{ simSwappedWithin: true }] },
  ],
  ['bff', '{ phoneNumber(e164: "+447700900001") { lastSimSwap }}', 'PERSISTED_QUERY_ID_REQUIRED'],
] as const)(
  'the settings of deploy/kubernetes/%s.yaml start a service that answers',
  async (variant, query, expected) => {
    const pod = podOf(variant);
    const simulator = await launchSimulator();
    const redis = await startRedis();
    const issuer = await TestIssuer.start();
    const folder = temporaryFolder();
    try {
      const addressed = {
        ...pod,
        settingsFiles: {
          ...pod.settingsFiles,
          'operators.jsonc': (pod.settingsFiles['operators.jsonc'] ?? '')
            .replace('https://auth.operator.example', simulator.authUrl)
            .replace('https://api.operator.example/sim-swap/v2', simulator.simSwapUrl)
            .replace('your-client-id', simulator.clientId),
        },
      };
      const environment = await mounted(addressed, folder, {
        'audit-key': 'an audit key of thirty-two characters and more',
        'northern-client-secret': simulator.clientSecret,
        'redis-url': redis.url,
        'state-key': Buffer.alloc(32, 7).toString('base64'),
        'router-secret': ROUTER_SECRET,
      });
      const port = await freePort();
      const local = {
        // What the image sets.
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        PORT: String(port),
        ...environment,
        ...issuer.settings,
        METRICS_PORT: String(await freePort()),
      };
      const config = readConfig(local);
      const stopSeconds = stopLimitMs({ config, operators: config.operators }) / 1000;
      expect(pod.terminationSeconds).toBeGreaterThanOrEqual(pod.preStopSeconds + stopSeconds);

      await using program = Program.node(
        ['--disallow-code-generation-from-strings', 'src/main.ts'],
        local,
      );
      await program.written(/"msg":"ready"/);
      const url = `http://127.0.0.1:${port}`;
      const statuses = await Promise.all(
        pod.probes.map(async (path) => (await fetch(url + path)).status),
      );
      expect(statuses).toEqual([200, 200, 200]);
      const scraped = await fetch(`http://127.0.0.1:${local.METRICS_PORT}/metrics`);
      expect(await scraped.text()).toContain('sim_swap_');

      const { codes, data } = await askAt(url, query, undefined, {
        'x-router-secret': ROUTER_SECRET,
        authorization: `Bearer ${await issuer.token({ scope: 'sim-swap:read' })}`,
      });
      expect(codes[0] ?? data).toEqual(expected);

      program.signal('SIGTERM');
      expect(await program.exit).toEqual({ code: 0, signal: null });
    } finally {
      await Promise.all([simulator.stop(), redis.kill(), issuer.close()]);
    }
  },
);
