import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, test } from 'vitest';
import { dashboard } from '../../scripts/monitoring/dashboard.ts';
import { durationsTimes, NODE_METRICS } from '../../scripts/monitoring/expressions.ts';
import { makeMonitoringFiles } from '../../scripts/monitoring/files.ts';
import { ALERTS, ruleGroups } from '../../scripts/monitoring/rules.ts';
import { METRICS } from '../../src/metrics/definitions.ts';
import { freePort } from '../freePort.ts';
import { startSimulated } from '../service.ts';
import { NO_PROMETHEUS, promtool } from './promtool.ts';

const RULES = ruleGroups(durationsTimes(1)).flatMap(({ rules }) => rules);
const RECORDED = RULES.flatMap((rule) => ('record' in rule ? rule.record : []));
const QUERIES = JSON.stringify(dashboard());

/** The names of all metrics in a text. */
function metricsIn(text: string): ReadonlySet<string> {
  const names = text.match(/\b(?:sim_swap|process|nodejs)_\w+|\bsim_swap:[\w:]+/g) ?? [];
  return new Set(names.map((name) => name.replace(/_(?:bucket|count)$/, '')));
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

test('the rules and the dashboard are those of the definition of the metrics', async () => {
  for (const { path, text } of await makeMonitoringFiles()) {
    expect(readFileSync(path, 'utf8'), `npm run generate writes ${path}`).toBe(text);
  }
});

describe('a panel or a rule', () => {
  const known = Object.values({ ...METRICS, ...NODE_METRICS }).map(({ name }) => name) as string[];

  it('names no metric that there is not', () => {
    const named = metricsIn(QUERIES + RULES.map(({ expr }) => expr).join('\n'));
    expect([...named].filter((name) => ![...known, ...RECORDED].includes(name))).toEqual([]);
  });

  it('shows every metric of the service', () => {
    const recorded = RULES.flatMap((rule) => ('record' in rule ? rule.expr : [])).join('\n');
    const shown = metricsIn(QUERIES + recorded);
    const names = Object.values(METRICS).map(({ name }) => name);
    expect(names.filter((name) => !shown.has(name))).toEqual([]);
  });

  it('finds the metrics of Node at a real service', async () => {
    const port = String(await freePort());
    await using service = await startSimulated({ PORT: port, METRICS_PORT: port });
    const text = await (await fetch(`${service.url}/metrics`)).text();
    for (const { name, type } of Object.values(NODE_METRICS)) {
      expect(text).toContain(`# TYPE ${name} ${type}`);
    }
  });
});

test('docs/operations.md has a section for each alert, and for no other', () => {
  const docs = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const sections = Array.from(docs.matchAll(/^### (SimSwap\w+)$/gm), ([, name]) => name);
  expect(sections).toEqual(Object.keys(ALERTS));
});

describe.skipIf(NO_PROMETHEUS !== undefined)(`promtool ${NO_PROMETHEUS ?? ''}`, () => {
  it('takes the rules', async () => {
    const said = await promtool('check', 'rules', pathOf('../../monitoring/rules.yml'));
    expect(said).toContain('SUCCESS');
  });

  it.each(['rules.test.yml', 'longRules.test.yml'])(
    'finds each alert raised by its series and only by them: %s',
    async (file) => {
      expect(await promtool('test', 'rules', pathOf(file))).toContain('SUCCESS');
    },
    60_000,
  );
});
