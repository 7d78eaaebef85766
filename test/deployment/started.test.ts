import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { DEMO_CLIENT, startSimulator } from '../../simulator/simulator.ts';
import { stopLimitMs } from '../../src/app/server.ts';
import { TestIssuer } from '../caller/testIssuer.ts';
import { freePort } from '../support/freePort.ts';
import { Program } from '../support/program.ts';
import { NO_REDIS, startRedis } from '../support/redisServer.ts';
import { askAt } from '../support/service.ts';
import { manifestsOf, NO_KUBECTL, podsOf, settingsOf } from './files.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** The paths of the Secret and the ConfigMap in the container. */
const SECRETS_PATH = '/run/secrets/sim-swap';
const SETTINGS_PATH = '/etc/sim-swap';

/** Writes what a pod mounts into a folder; returns its environment with the paths there. */
async function mounted(
  environment: Readonly<Record<string, string>>,
  folder: string,
  mounts: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Promise<Readonly<Record<string, string>>> {
  const paths = Object.keys(mounts);
  const here = (text: string): string =>
    paths.reduce((moved, path) => moved.replaceAll(path, folder + path), text);
  for (const [path, files] of Object.entries(mounts)) {
    await mkdir(folder + path, { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(folder + path, name), here(text));
    }
  }
  const settings = Object.entries(environment);
  return Object.fromEntries(settings.map(([name, value]) => [name, here(value)]));
}

const ROUTER_SECRET = 'a-router-secret-of-thirty-two-characters-and-more';

it.skipIf((NO_REDIS ?? NO_KUBECTL) !== undefined).each([
  [
    'subgraph',
    '{ _entities(representations: [{ __typename: "PhoneNumber", e164: "+447700900001" }]) { ... on PhoneNumber { simSwappedWithin(maxAgeHours: 240) } } }',
    { _entities: [{ simSwappedWithin: true }] },
  ],
  ['bff', '{ phoneNumber(e164: "+447700900001") { lastSimSwap }}', 'PERSISTED_QUERY_ID_REQUIRED'],
] as const)(
  'the settings of deploy/kubernetes/%s start a service that answers',
  async (variant, query, expected) => {
    const settings = manifestsOf(variant).find(({ kind }) => kind === 'ConfigMap');
    const settingsFiles = settings?.['data'] as Readonly<Record<string, string>>;
    const [{ spec }] = podsOf(variant);
    const [container] = spec.containers;
    const simulator = await startSimulator({ port: 0 });
    const redis = await startRedis();
    const issuer = await TestIssuer.start();
    const folder = temporaryFolder();
    try {
      const operators = (settingsFiles['operators.jsonc'] ?? '')
        .replace('https://auth.operator.example', simulator.authUrl)
        .replace('https://api.operator.example/sim-swap/v2', simulator.simSwapUrl)
        .replace('your-client-id', DEMO_CLIENT.clientId);
      const environment = await mounted(settingsOf(container), folder, {
        [SETTINGS_PATH]: { ...settingsFiles, 'operators.jsonc': operators },
        [SECRETS_PATH]: {
          'audit-key': 'an audit key of thirty-two characters and more',
          'northern-client-secret': DEMO_CLIENT.clientSecret,
          'redis-url': redis.url,
          'state-key': Buffer.alloc(32, 7).toString('base64'),
          'router-secret': ROUTER_SECRET,
        },
      });
      const port = await freePort();
      const local = {
        // The settings of the image.
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        PORT: String(port),
        ...environment,
        ...issuer.settings,
        METRICS_PORT: String(await freePort()),
      };
      const config = readConfig(local);
      const stopSeconds = stopLimitMs({ config, operators: config.operators }) / 1000;
      const preStopSeconds = container.lifecycle.preStop.sleep.seconds;
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
        preStopSeconds + stopSeconds,
      );

      await using program = Program.node(
        ['--disallow-code-generation-from-strings', '--disable-sigusr1', 'src/main.ts'],
        local,
      );
      await program.written(/"msg":"Ready."/);
      const url = `http://127.0.0.1:${port}`;
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
        expect((await fetch(url + container[probe].httpGet.path)).status).toBe(200);
      }
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
      await Promise.all([simulator.close(), redis.kill(), issuer.close()]);
    }
  },
);
