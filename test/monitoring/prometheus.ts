import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../support/freePort.ts';
import { temporaryFolder } from '../support/temporary.ts';

const FOLDER = '/usr/bin';

const PROMETHEUS = `${FOLDER}/prometheus`;
const PROMTOOL = `${FOLDER}/promtool`;

/** Why tests with Prometheus are left out, where they are. */
export const NO_PROMETHEUS = [PROMETHEUS, PROMTOOL].every((path) => existsSync(path))
  ? undefined
  : `Left out, for there is no ${PROMTOOL}; to have them: apt-get install -y prometheus`;

/** The output of promtool; rejects with it when the program ends with an error. */
export function promtool(...words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(PROMTOOL, words, (error, out, problems) => {
      if (error === null) resolve(out);
      else reject(new Error(`${out}${problems}`));
    });
  });
}

/** The rules with a second for each minute in `for`, ranges and offsets. */
function hurried(rules: string): string {
  return rules.replaceAll(/(for: |\[|offset )(\d+)([mhd])\b/g, (_, before, count, unit) => {
    const minutes = Number(count) * { m: 1, h: 60, d: 24 * 60 }[unit as 'm' | 'h' | 'd'];
    return `${before}${minutes}s`;
  });
}

const RULES = readFileSync(new URL('../../monitoring/rules.yml', import.meta.url), 'utf8');

/** A machine with other things to do delays a reply by less. */
const API_MS = 10_000;

/** The data of Prometheus' HTTP API; `undefined` while it is not ready. */
async function dataAt<Data>(address: string): Promise<Data | undefined> {
  const signal = AbortSignal.timeout(API_MS);
  const response = await fetch(address, { signal }).catch(() => undefined);
  if (response?.ok !== true) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the API has it
  const { data } = (await response.json()) as { readonly data: Data };
  return data;
}

interface Alerts {
  readonly alerts: readonly { state: string; labels: Readonly<Record<string, string>> }[];
}

interface Sum {
  readonly result: readonly { readonly value: readonly [number, string] }[];
}

/** A Prometheus with the rules of the service, which scrapes each job at its `host:port`. */
export async function startPrometheus(jobs: Readonly<Record<string, string>>) {
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
  const api = `http://127.0.0.1:${port}/api/v1`;
  return {
    /** The alerts that are raised now, with the job of each. */
    async firing(): Promise<readonly (readonly [job: string, alert: string])[]> {
      const { alerts = [] } = (await dataAt<Alerts>(`${api}/alerts`)) ?? {};
      return alerts
        .filter(({ state }) => state === 'firing')
        .map(({ labels }) => [labels['job'] ?? '', labels['alertname'] ?? '']);
    },
    /** Whether each job has been scraped. */
    async hasScraped(): Promise<boolean> {
      const sum = await dataAt<Sum>(`${api}/query?query=${encodeURIComponent('sum(up)')}`);
      return Number(sum?.result[0]?.value[1]) === Object.keys(jobs).length;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
