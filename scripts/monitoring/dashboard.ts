import { METRICS } from '../../src/metrics/definitions.ts';
import { HOUR, maxOf, NODE_METRICS, quantile, series, sumOf } from './expressions.ts';
import { ANSWERS_GOAL, failedAnswers, FAILURES, RECORDED } from './rules.ts';

/** One picture of the dashboard. */
interface Panel {
  readonly title: string;
  /** As Grafana names units. */
  readonly unit: 'short' | 'reqps' | 's' | 'percentunit' | 'bytes' | 'ops';
  readonly queries: readonly Query[];
  /** Above it the line is red. */
  readonly redAbove?: number;
}

interface Query {
  readonly expr: string;
  /** Such as `{{operator}}`. */
  readonly legend: string;
}

interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** As far back as a rate looks: Grafana makes it four scrapes at least. */
const RANGE = '$__rate_interval';

const ROWS: readonly Row[] = [
  {
    title: 'What users feel',
    panels: [
      {
        title: 'Answers that failed, of all',
        unit: 'percentunit',
        redAbove: 1 - ANSWERS_GOAL,
        queries: [{ expr: failedAnswers(HOUR), legend: 'last hour' }],
      },
      panel('Answers by outcome', 'ops', '{{outcome}}', METRICS.answers, ['outcome']),
      panel('Requests by code', 'reqps', '{{code}}', METRICS.requests, ['code']),
      panel('Requests by document', 'reqps', '{{document}}', METRICS.requests, ['document']),
      quantiles('Time to answer', METRICS.requestSeconds, ['document'], '{{document}}'),
      {
        title: 'Failed answers by code, in an hour',
        unit: 'short',
        queries: [
          {
            expr: sumOf('increase', METRICS.answers, '1h', {
              by: ['outcome'],
              where: { outcome: FAILURES },
            }),
            legend: '{{outcome}}',
          },
        ],
      },
    ],
  },
  {
    title: 'The bill',
    panels: [
      {
        title: 'Lookups that may be billed, an hour',
        unit: 'short',
        queries: [
          {
            expr: `${RECORDED.lookupAttempts} * ${HOUR}`,
            legend: '{{operator}} {{operation}}',
          },
        ],
      },
      {
        title: 'Price, in a day',
        unit: 'short',
        queries: [
          {
            expr: sumOf('increase', METRICS.lookupPrice, '1d', { by: ['operator', 'currency'] }),
            legend: '{{operator}} {{currency}}',
          },
        ],
      },
      panel('Lookups by outcome', 'ops', '{{operator}} {{outcome}}', METRICS.lookups, [
        'operator',
        'outcome',
      ]),
      panel('Told without a lookup', 'ops', '{{how}}', METRICS.answersWithoutLookup, ['how']),
      panel('Asked twice in an operation', 'ops', 'fields', METRICS.repeatedQuestions, []),
      panel('Deduced from other answers', 'ops', 'questions', METRICS.deducedAnswers, []),
      panel('Callers refused', 'reqps', '{{reason}}', METRICS.refusedCallers, ['reason']),
      quantiles('Used of quotas', METRICS.quotaUsed, ['quota'], '{{quota}}', 'percentunit'),
      panel('Not asked', 'ops', '{{operator}} {{event}} {{code}}', METRICS.denied, [
        'operator',
        'event',
        'code',
      ]),
    ],
  },
  {
    title: 'Operators',
    panels: [
      {
        title: 'Open circuits',
        unit: 'short',
        queries: [
          {
            expr: maxOf(METRICS.circuitOpen, ['operator', 'endpoint']),
            legend: '{{operator}} {{endpoint}}',
          },
        ],
      },
      {
        title: 'Settings that were refused at a reload',
        unit: 'short',
        queries: [{ expr: maxOf(METRICS.reloadRefused, []), legend: '{{job}}' }],
      },
      {
        title: 'Exchanges that failed, of all',
        unit: 'percentunit',
        redAbove: 0.5,
        queries: [{ expr: RECORDED.operatorFailures, legend: '{{operator}}' }],
      },
      {
        title: 'Under way and waiting',
        unit: 'short',
        queries: [
          {
            expr: maxOf(METRICS.workUnderWay, ['operator', 'work']),
            legend: '{{operator}} {{work}}',
          },
          {
            expr: maxOf(METRICS.workWaiting, ['operator', 'work']),
            legend: '{{operator}} {{work}} waiting',
          },
        ],
      },
      quantiles(
        'Time of exchanges',
        METRICS.exchangeSeconds,
        ['operator', 'endpoint'],
        '{{operator}} {{endpoint}}',
      ),
      panel('Exchanges by outcome', 'ops', '{{operator}} {{outcome}}', METRICS.exchangeSeconds, [
        'operator',
        'outcome',
      ]),
      {
        title: 'Open connections',
        unit: 'short',
        queries: [
          {
            expr: maxOf(METRICS.connections, ['operator', 'endpoint', 'protocol']),
            legend: '{{operator}} {{endpoint}} {{protocol}}',
          },
          {
            expr: maxOf(METRICS.streams, ['operator', 'endpoint']),
            legend: '{{operator}} {{endpoint}} streams',
          },
        ],
      },
      panel('Exchanges made once more', 'ops', '{{operator}} {{endpoint}}', METRICS.retries, [
        'operator',
        'endpoint',
      ]),
    ],
  },
  {
    title: 'Tokens and consents',
    panels: [
      panel('Prompts', 'ops', '{{operator}} {{outcome}}', METRICS.prompts, ['operator', 'outcome']),
      panel('Ends of consents', 'ops', '{{operator}} {{outcome}}', METRICS.consentWaitSeconds, [
        'operator',
        'outcome',
      ]),
      panel('Tokens', 'ops', '{{operator}} {{grant}} {{outcome}}', METRICS.tokens, [
        'operator',
        'grant',
        'outcome',
      ]),
      quantiles('Time of waiting', METRICS.consentWaitSeconds, ['outcome'], '{{outcome}}'),
    ],
  },
  {
    title: 'Processes',
    panels: [
      panel('CPU', 'percentunit', '{{job}}', NODE_METRICS.cpuSeconds, []),
      gauges('Memory', 'bytes', [NODE_METRICS.residentBytes, NODE_METRICS.heapBytes]),
      gauges('Event loop lag, 99 %', 's', [NODE_METRICS.eventLoopLagSeconds]),
      panel('Garbage collections', 'ops', '{{kind}}', NODE_METRICS.gcSeconds, ['kind']),
      panel('Spans of traces', 'ops', '{{outcome}}', METRICS.spans, ['outcome']),
    ],
  },
];

type AnyMetric =
  (typeof METRICS)[keyof typeof METRICS] | (typeof NODE_METRICS)[keyof typeof NODE_METRICS];

/** A rate, by labels. */
function panel<const M extends AnyMetric>(
  title: string,
  unit: Panel['unit'],
  legend: string,
  metric: M,
  by: readonly M['labels'][number][],
): Panel {
  return { title, unit, queries: [{ expr: sumOf('rate', metric, RANGE, { by }), legend }] };
}

/** The median and the 99th percentile. */
function quantiles<const M extends AnyMetric>(
  title: string,
  metric: M,
  by: readonly M['labels'][number][],
  legend: string,
  unit: Panel['unit'] = 's',
): Panel {
  const queries = [0.5, 0.99].map((share) => ({
    expr: quantile(share, metric, RANGE, by),
    legend: `${share * 100} % ${legend}`,
  }));
  return { title, unit, queries };
}

/** A line for each process. */
function gauges(title: string, unit: Panel['unit'], metrics: readonly AnyMetric[]): Panel {
  const queries = metrics.map((metric) => ({
    expr: series<AnyMetric>(metric),
    legend: `{{instance}} ${metric.name}`,
  }));
  return { title, unit, queries };
}

const COLUMNS = 3;
const PANEL = { w: 24 / COLUMNS, h: 8 };

/** The dashboard, as Grafana imports it. Pure. */
export function dashboard(): object {
  return {
    uid: 'sim-swap',
    title: 'SIM swap',
    tags: ['sim-swap'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    templating: {
      list: [{ name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' }],
    },
    panels: laidOut(ROWS).map((one, index) => ({ id: index + 1, ...one })),
  };
}

/** Rows below each other, with a heading each. */
function laidOut(rows: readonly Row[]): readonly object[] {
  let y = 0;
  return rows.flatMap(({ title, panels }) => {
    const top = y + 1;
    const heading = {
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: 24, h: 1 },
    };
    y = top + Math.ceil(panels.length / COLUMNS) * PANEL.h;
    return [heading, ...panels.map((one, index) => drawn(one, index, top))];
  });
}

function drawn({ title, unit, queries, redAbove }: Panel, index: number, top: number): object {
  const x = (index % COLUMNS) * PANEL.w;
  const y = top + Math.floor(index / COLUMNS) * PANEL.h;
  const datasource = { type: 'prometheus', uid: '${datasource}' };
  return {
    type: 'timeseries',
    title,
    datasource,
    gridPos: { x, y, ...PANEL },
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        ...(redAbove === undefined
          ? {}
          : {
              thresholds: {
                mode: 'absolute',
                steps: [
                  { color: 'green', value: null },
                  { color: 'red', value: redAbove },
                ],
              },
              custom: { thresholdsStyle: { mode: 'line' } },
            }),
      },
      overrides: [],
    },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: queries.map(({ expr, legend }, query) => ({
      refId: String.fromCodePoint(65 + query),
      datasource,
      expr,
      legendFormat: legend,
    })),
  };
}
