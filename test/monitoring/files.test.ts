import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { ERRORS } from '../../src/domain/errors.ts';
import { METRICS, type MetricDefinition } from '../../src/telemetry/metricDefinitions.ts';
import { metricsOf } from '../metrics/scrape.ts';
import { FIELD_CODES } from '../support/fieldCodes.ts';
import { startSimulated } from '../support/service.ts';
import { IS_LONG } from '../support/forms.ts';
import { NO_PROMETHEUS, promtool } from './prometheus.ts';

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly ({ readonly expr: string } & (
      | { readonly record: string }
      | {
          readonly alert: string;
          readonly labels: { readonly severity: string };
          readonly annotations: { readonly summary: string; readonly runbook: string };
        }
    ))[];
  }[];
}

interface Dashboard {
  readonly panels: readonly {
    readonly links?: readonly { readonly url: string }[];
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

const RULES = (parse(read('monitoring/rules.yml')) as Rules).groups.flatMap(({ rules }) => rules);
const ALERTS = RULES.flatMap((rule) => ('alert' in rule ? [rule] : []));
const RECORDED = RULES.flatMap((rule) => ('record' in rule ? [rule] : []));
const DASHBOARD = JSON.parse(read('monitoring/dashboard.json')) as Dashboard;
const PANELS = DASHBOARD.panels.flatMap(({ targets = [] }) => targets);
const EXPRESSIONS = [...RULES, ...PANELS].map(({ expr }) => expr);

function read(name: string): string {
  return readFileSync(pathOf(name), 'utf8');
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`../../${name}`, import.meta.url));
}

/** The metrics of an expression, each with what is in the braces behind it. */
function metricsIn(expr: string): readonly (readonly [name: string, matchers: string])[] {
  const found = expr.matchAll(
    /\b((?:sim_swap|process|nodejs)_\w+|sim_swap:[\w:]+)(?:\{([^}]*)\})?/g,
  );
  return Array.from(found, ([, name = '', matchers = '']) => [
    name.replace(/_(?:bucket|count|sum)$/, ''),
    matchers,
  ]);
}

/** The labels that a matcher names, each with its values. */
function matched(
  matchers: string,
): readonly (readonly [label: string, values: readonly string[]])[] {
  return Array.from(
    matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"([^"]*)"/g),
    ([, label = '', values = '']) => [label, values.split('|')],
  );
}

/** What a scrape adds, and a histogram. */
const OF_THE_SCRAPE = ['job', 'instance', 'le'];

const OURS: ReadonlyMap<string, MetricDefinition> = new Map(
  Object.values(METRICS).map((metric) => [metric.name, metric]),
);

describe('a panel or a rule', () => {
  let scraped: string;
  beforeAll(async () => {
    await using service = await startSimulated({ METRICS_PORT: '0' });
    scraped = await metricsOf(service);
  });

  it('names only metrics that a real service has', () => {
    const known = new Set(Array.from(scraped.matchAll(/^# TYPE (\w+)/gm), ([, name]) => name));
    for (const { record } of RECORDED) known.add(record);
    const named = EXPRESSIONS.flatMap(metricsIn).map(([name]) => name);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it('names only labels that its metric has, and only codes that exist', () => {
    for (const [name, matchers] of EXPRESSIONS.flatMap(metricsIn)) {
      const metric = OURS.get(name);
      for (const [label, values] of metric === undefined ? [] : matched(matchers)) {
        expect([...(metric?.labels ?? []), ...OF_THE_SCRAPE]).toContain(label);
        const codes = values.filter((value) => /^[A-Z_]+$/.test(value));
        expect(codes.filter((code) => !(code in ERRORS))).toEqual([]);
      }
    }
  });

  it('groups by labels that one of its metrics has', () => {
    for (const expr of EXPRESSIONS) {
      const labels = metricsIn(expr).flatMap(([name]) => OURS.get(name)?.labels ?? []);
      if (labels.length === 0) continue;
      const grouped = Array.from(expr.matchAll(/ by \(([^)]*)\)/g), ([, by = '']) =>
        by.split(', '),
      );
      const known = new Set([...labels, ...OF_THE_SCRAPE]);
      expect(grouped.flat().filter((label) => !known.has(label))).toEqual([]);
    }
  });

  it('keeps deployments apart', () => {
    const sums = EXPRESSIONS.flatMap((expr) => expr.match(/ by \([^)]*\)/g) ?? []);
    expect(sums.filter((by) => !by.includes('job'))).toEqual([]);
  });

  it('counts the same failed answers: those of an operator, and those of the platform team in docs/errors.md', () => {
    const platform = Array.from(
      read('docs/errors.md').matchAll(/^## (.+)\n\n.+ \*\*platform\*\*: /gm),
      ([, code]) => code,
    );
    const failed = FIELD_CODES.filter(
      (code) => code.startsWith('OPERATOR_') || platform.includes(code),
    );
    const lists = EXPRESSIONS.flatMap((expr) => expr.match(/outcome=~"OPERATOR_[^"]*"/g) ?? []);
    expect([...new Set(lists)]).toEqual([`outcome=~"${failed.join('|')}"`]);
  });
});

test('the dashboard shows every metric of the service, directly or as recorded', () => {
  const shown = new Set(
    [...PANELS, ...RECORDED].flatMap(({ expr }) => metricsIn(expr)).map(([name]) => name),
  );
  // Those of any process of Node are shown where they say something about this one.
  const ours = [...OURS.keys()].filter((name) => name.startsWith('sim_swap_'));
  expect(ours.filter((name) => !shown.has(name))).toEqual([]);
});

describe('the dashboard', () => {
  it('shows only the chosen deployments and operators', () => {
    for (const [name, matchers] of PANELS.flatMap(({ expr }) => metricsIn(expr))) {
      const isOfOperators =
        OURS.get(name)?.labels?.includes('operator') === true ||
        /^sim_swap:(?:operator|lookup)/.test(name);
      expect({ name, matchers }).toEqual({
        name,
        matchers: expect.stringContaining('job=~"$job"') as string,
      });
      expect({ name, byOperator: matchers.includes('operator=~"$operator"') }).toEqual({
        name,
        byOperator: isOfOperators,
      });
    }
  });

  it('links to existing sections of the runbook', () => {
    const sections = new Set(ALERTS.map(({ alert }) => alert.toLowerCase()));
    const links = DASHBOARD.panels.flatMap(({ links: own = [] }) => own.map(({ url }) => url));
    expect(links.length).toBeGreaterThan(10);
    for (const link of links) {
      const [base, section = ''] = link.split('#');
      expect(base).toBe('${runbooks}/operations.md');
      expect(sections).toContain(section);
    }
  });
});

test('docs/operations.md has a section for each alert, and for no other', () => {
  const sections = read('docs/operations.md').matchAll(/^### (SimSwap\w+)$/gm);
  const names = [...new Set(ALERTS.map(({ alert }) => alert))];
  expect(Array.from(sections, ([, name]) => name)).toEqual(names);
});

test.each(ALERTS)(
  '$alert has a severity and a section of the runbook',
  ({ alert, labels, annotations }) => {
    expect(['page', 'ticket']).toContain(labels.severity);
    expect(annotations.runbook).toMatch(new RegExp(`}/operations.md#${alert.toLowerCase()}$`));
  },
);

describe.skipIf(NO_PROMETHEUS !== undefined)(`promtool ${NO_PROMETHEUS ?? ''}`, () => {
  it.each(['rules.test.yml', ...(IS_LONG ? ['longRules.test.yml'] : [])])(
    'finds each alert raised by its series, and only by them: %s',
    async (file) => {
      const said = await promtool('test', 'rules', pathOf(`test/monitoring/${file}`));
      expect(said).toContain('SUCCESS');
    },
    120_000,
  );
});
