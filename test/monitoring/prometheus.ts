import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rulesText } from '../../scripts/monitoring/files.ts';
import { durationsTimes } from '../../scripts/monitoring/expressions.ts';
import { freePort } from '../freePort.ts';
import { PROMETHEUS } from './promtool.ts';

/** A minute of the rules is a second of the test. */
const MINUTE_AS_SECOND = durationsTimes(1 / 60);

/** A Prometheus of a test's own, with the rules of the service. */
export interface RunningPrometheus extends AsyncDisposable {
  /** The alerts that are raised now, each once, of one job. */
  firing(job: string): Promise<readonly string[]>;
}

interface AlertsReply {
  readonly data: {
    readonly alerts: readonly {
      readonly state: string;
      readonly labels: Readonly<Record<string, string>>;
    }[];
  };
}

/** Scrapes `/metrics` of each job at its `host:port`. */
export async function startPrometheus(
  jobs: Readonly<Record<string, string>>,
): Promise<RunningPrometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
  const port = await freePort();
  writeFileSync(join(folder, 'rules.yml'), rulesText(MINUTE_AS_SECOND));
  // JSON is YAML.
  const settings = {
    global: { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' },
    rule_files: ['rules.yml'],
    scrape_configs: Object.entries(jobs).map(([name, target]) => ({
      job_name: name,
      static_configs: [{ targets: [target] }],
    })),
  };
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(settings));
  const child = spawn(
    PROMETHEUS,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const exited = once(child, 'exit');
  return {
    async firing(job) {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/alerts`).catch(() => undefined);
      // Not ready yet.
      if (response?.ok !== true) return [];
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as Prometheus' HTTP API has it
      const { data } = (await response.json()) as AlertsReply;
      const names = data.alerts
        .filter(({ state, labels }) => state === 'firing' && labels['job'] === job)
        .map(({ labels }) => labels['alertname'] ?? '');
      return [...new Set(names)].toSorted();
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
}
