import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { freePort } from '../freePort.ts';
import { NO_PROMETHEUS, promtool } from '../monitoring/promtool.ts';
import { Program } from '../program.ts';
import { NO_REDIS, startRedis } from '../redisServer.ts';
import { askAt } from '../service.ts';
import { documentsIn, podsOf, settingsOf } from './files.ts';
import { temporaryFolder } from '../temporary.ts';

const words = z.array(z.string());

/** No rights, and nothing to write but `/tmp`. */
const confined = {
  image: z.string(),
  build: z.literal('..'),
  read_only: z.literal(true),
  tmpfs: z.tuple([z.literal('/tmp')]),
  cap_drop: z.tuple([z.literal('ALL')]),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
};

/** The fields of Compose that the file uses: a misspelt one is not among them. */
const composition = z.strictObject({
  name: z.string(),
  services: z.strictObject({
    'sim-swap': z.strictObject({
      ...confined,
      environment: z.record(z.string(), z.string()),
      ports: words,
      depends_on: z.record(z.string(), z.strictObject({ condition: z.string() })),
      stop_grace_period: z.string(),
    }),
    simulator: z.strictObject({ ...confined, entrypoint: words }),
    redis: z.strictObject({
      image: z.string(),
      command: words,
      healthcheck: z.strictObject({ test: words, interval: z.string(), retries: z.number() }),
    }),
    prometheus: z.strictObject({
      image: z.string(),
      volumes: words,
      ports: words,
      depends_on: words,
    }),
  }),
});

const { services } = composition.parse(documentsIn('compose.yaml')[0]);

it('is the rehearsal of deploy/kubernetes, on one machine', () => {
  const [{ spec }] = podsOf('rehearsal');
  const [container] = spec.containers;
  expect(services['sim-swap'].environment).toEqual(settingsOf(container));
  expect([services['sim-swap'].image, services.simulator.image]).toEqual([
    container.image,
    container.image,
  ]);
  expect(services['sim-swap'].stop_grace_period).toBe(`${spec.terminationGracePeriodSeconds}s`);
});

it.skipIf(NO_REDIS !== undefined)(
  'the services of deploy/compose.yaml, as processes, answer a token of npm run dev-token',
  async () => {
    const [simulatorPort, port, metricsPort] = [
      await freePort(),
      await freePort(),
      await freePort(),
    ];
    await using stack = new AsyncDisposableStack();
    const redis = await startRedis();
    stack.defer(() => redis.kill());
    const [, ...options] = services.simulator.entrypoint;
    await using simulator = Program.node(
      options.map((word) => {
        if (word === '4010') return String(simulatorPort);
        // What the image runs is built from the sources.
        return word.replace(/^dist\/(.*)\.js$/, '$1.ts');
      }),
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

    await using signing = Program.node(['src/commands/devToken.ts', '--scope', 'sim-swap:read']);
    await signing.ended;
    const url = `http://127.0.0.1:${port}`;
    const query = '{ phoneNumber(e164: "+447700900001") { simSwappedWithin(maxAgeHours: 240) } }';
    const headers = { authorization: `Bearer ${signing.out.trim()}` };
    expect((await askAt(url, query, {}, headers)).data).toEqual({
      phoneNumber: { simSwappedWithin: true },
    });
    expect((await askAt(url, query)).status).toBe(401);
  },
);

it.skipIf(NO_PROMETHEUS !== undefined)(
  'Prometheus takes its settings, and finds the rules',
  async () => {
    expect(services.prometheus.volumes).toEqual([
      './prometheus.yml:/etc/prometheus/prometheus.yml:ro',
      '../monitoring/rules.yml:/etc/prometheus/rules.yml:ro',
    ]);
    const folder = temporaryFolder();
    const settings = join(folder, 'prometheus.yml');
    for (const [from, to] of [
      ['deploy/prometheus.yml', settings],
      ['monitoring/rules.yml', join(folder, 'rules.yml')],
    ] as const) {
      copyFileSync(new URL(`../../${from}`, import.meta.url), to);
    }
    expect(await promtool('check', 'config', settings)).toContain('SUCCESS');
  },
);
