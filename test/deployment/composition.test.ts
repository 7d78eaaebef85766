import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { NO_PROMETHEUS, promtool } from '../monitoring/prometheus.ts';
import { problemsOf } from '../config/problems.ts';
import { documentsIn, NO_KUBECTL, podsOf, settingsOf } from './files.ts';
import { temporaryFolder } from '../support/temporary.ts';

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

it.skipIf(NO_KUBECTL !== undefined)('is the rehearsal of deploy/kubernetes on one machine', () => {
  const [{ spec }] = podsOf('rehearsal');
  const [container] = spec.containers;
  expect(services['sim-swap'].environment).toEqual(settingsOf(container));
  expect([services['sim-swap'].image, services.simulator.image]).toEqual([
    container.image,
    container.image,
  ]);
  expect(services['sim-swap'].stop_grace_period).toBe(`${spec.terminationGracePeriodSeconds}s`);
});

it('has settings without problems, and a simulator of known options', () => {
  // The settings of the image, then those of the file.
  const ofImage = { NODE_ENV: 'production', HOST: '0.0.0.0', PORT: '4000' };
  expect(problemsOf({ ...ofImage, ...services['sim-swap'].environment })).toEqual([]);
  // Started with these: test/simulator/main.test.ts.
  expect(services.simulator.entrypoint.join(' ')).toBe(
    'node --disallow-code-generation-from-strings --disable-sigusr1 dist/simulator/main.js --host 0.0.0.0 --port 4010',
  );
});

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
