import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startSimulated } from '../test/support/service.ts';
import { finding, type Judge } from './judge.ts';

/** What Prometheus' own checker makes of the rules, and of the metrics of a service. */
export const PROMETHEUS: Judge = {
  name: 'Prometheus, by promtool',
  version: 'promtool, as installed',
  form: 'short',
  async judge() {
    if (!isInstalled()) {
      return { notHere: 'Install promtool: apt-get install -y prometheus.' };
    }
    const rules = await complaintsOf(['check', 'rules', pathOf('monitoring/rules.yml')]);
    const metrics = await complaintsOf(['check', 'metrics'], await scraped());
    return [
      finding('the rules', rules.length === 0, rules.join(' ')),
      finding('the metrics', metrics.length === 0, metrics.join(' ')),
    ];
  },
};

function isInstalled(): boolean {
  return spawnSync('promtool', ['--version']).status === 0;
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(`../${file}`, import.meta.url));
}

async function scraped(): Promise<string> {
  const service = await startSimulated({ METRICS_PORT: '0' });
  try {
    await service.ask('{ phoneNumber(e164: "+447700900001") { simSwappedWithin } }');
    const [, port] =
      /^info Serving metrics\. .*"port":(\d+)/m.exec(service.logged.join('\n')) ?? [];
    return await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  } finally {
    await service.stop();
  }
}

/** What promtool writes to standard error; it may end with 0 after that. */
function complaintsOf(words: readonly string[], input = ''): Promise<readonly string[]> {
  const { promise, resolve } = Promise.withResolvers<readonly string[]>();
  const program = execFile('promtool', words, (error, _out, problems) => {
    const lines = problems.split('\n').filter((line) => line !== '');
    resolve(error !== null && lines.length === 0 ? [error.message] : lines);
  });
  program.stdin?.end(input);
  return promise;
}
