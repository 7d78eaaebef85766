import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../freePort.ts';
import { PROMETHEUS } from './promtool.ts';
import { temporaryFolder } from '../temporary.ts';

/** The rules with a second for each minute: in `for`, in ranges and in offsets, not in labels. Pure. */
function hurried(rules: string): string {
  return rules.replaceAll(/(for: |\[|offset )(\d+)([mhd])\b/g, (_, before, count, unit) => {
    const minutes = Number(count) * { m: 1, h: 60, d: 24 * 60 }[unit as 'm' | 'h' | 'd'];
    return `${before}${minutes}s`;
  });
}

const RULES = readFileSync(new URL('../../monitoring/rules.yml', import.meta.url), 'utf8');

/** A Prometheus of a test's own, with the rules of the service. */
export interface RunningPrometheus extends AsyncDisposable {
  /** The alerts that are raised now, each once, of one job. */
  firing(job: string): Promise<readonly string[]>;
  /** Whether each job has been scraped. */
  hasScraped(): Promise<boolean>;
}

interface AlertsReply {
  readonly data: {
    readonly alerts: readonly {
      readonly state: string;
      readonly labels: Readonly<Record<string, string>>;
    }[];
  };
}

interface SumReply {
  readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
}

/** Scrapes `/metrics` of each job at its `host:port`. */
export async function startPrometheus(
  jobs: Readonly<Record<string, string>>,
): Promise<RunningPrometheus> {
  const folder = temporaryFolder();
  const port = await freePort();
  writeFileSync(join(folder, 'rules.yml'), hurried(RULES));
  // JSON is YAML.
  const settings = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '500ms' },
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
    async hasScraped() {
      const query = new URLSearchParams({ query: 'sum(up)' });
      const address = `http://127.0.0.1:${port}/api/v1/query?${query}`;
      const response = await fetch(address).catch(() => undefined);
      if (response?.ok !== true) return false;
      const { data } = (await response.json()) as SumReply;
      return Number(data.result[0]?.value[1]) === Object.keys(jobs).length;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
