import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { makeDeploymentFiles } from '../../scripts/deployment/files.ts';
import { freePort } from '../freePort.ts';
import { NO_PROMETHEUS, promtool } from '../monitoring/promtool.ts';
import { Program } from '../program.ts';
import { NO_REDIS, startRedis } from '../redisServer.ts';

interface Composition {
  readonly services: {
    readonly 'sim-swap': { readonly environment: Readonly<Record<string, string>> };
    readonly simulator: { readonly entrypoint: readonly [string, ...string[]] };
    readonly prometheus: { readonly volumes: readonly string[] };
  };
}

async function made<T>(file: string): Promise<T> {
  const files = await makeDeploymentFiles();
  return parse(files.find(({ path }) => path.endsWith(`/deploy/${file}`))?.text ?? '') as T;
}

it.skipIf(NO_REDIS !== undefined)(
  'the services of deploy/compose.yaml, as processes, answer a token of npm run dev-token',
  async () => {
    const { services } = await made<Composition>('compose.yaml');
    const [simulatorPort, port, metricsPort] = [
      await freePort(),
      await freePort(),
      await freePort(),
    ];
    await using stack = new AsyncDisposableStack();
    const redis = await startRedis();
    stack.defer(() => redis.kill());
    const [, ...words] = services.simulator.entrypoint;
    await using simulator = Program.node(
      words.map((word) => (word === '4010' ? String(simulatorPort) : word)),
    );
    await simulator.written(/listen|http:/i);
    await using service = Program.node(['--disallow-code-generation-from-strings', 'src/main.ts'], {
      // What the image sets.
      NODE_ENV: 'production',
      HOST: '0.0.0.0',
      PORT: String(port),
      ...services['sim-swap'].environment,
      // The names of other containers, as they are on this machine.
      SIMULATOR: `http://127.0.0.1:${simulatorPort}`,
      REDIS_URL: redis.url,
      METRICS_PORT: String(metricsPort),
    });
    await service.written(/"msg":"ready"/);

    await using signing = Program.node(['src/devToken.ts', '--scope', 'sim-swap:read']);
    await signing.ended;
    const ask = async (headers: Readonly<Record<string, string>>): Promise<unknown> => {
      const reply = await fetch(`http://127.0.0.1:${port}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({
          query: '{ phoneNumber(e164: "+447700900001") { simSwappedWithin(maxAgeHours: 240) } }',
        }),
      });
      return [reply.status, ((await reply.json()) as { data?: unknown }).data];
    };
    expect(await ask({ authorization: `Bearer ${signing.out.trim()}` })).toEqual([
      200,
      { phoneNumber: { simSwappedWithin: true } },
    ]);
    expect(await ask({})).toEqual([401, undefined]);
  },
);

it.skipIf(NO_PROMETHEUS !== undefined)(
  'Prometheus takes its settings, and finds the rules',
  async () => {
    const { services } = await made<Composition>('compose.yaml');
    expect(services.prometheus.volumes).toEqual([
      './prometheus.yml:/etc/prometheus/prometheus.yml:ro',
      '../monitoring/rules.yml:/etc/prometheus/rules.yml:ro',
    ]);
    const folder = mkdtempSync(join(tmpdir(), 'composition-'));
    try {
      const settings = join(folder, 'prometheus.yml');
      writeFileSync(settings, stringify(await made('prometheus.yml')));
      copyFileSync(
        new URL('../../monitoring/rules.yml', import.meta.url),
        join(folder, 'rules.yml'),
      );
      expect(await promtool('check', 'config', settings)).toContain('SUCCESS');
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
