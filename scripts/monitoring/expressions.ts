import type { MetricDefinition } from '../../src/metrics/definitions.ts';

/** The metrics of Node that the dashboard shows: of those that the client library makes by itself. */
export const NODE_METRICS = {
  cpuSeconds: { name: 'process_cpu_seconds_total', type: 'counter', labels: [] },
  residentBytes: { name: 'process_resident_memory_bytes', type: 'gauge', labels: [] },
  heapBytes: { name: 'nodejs_heap_size_used_bytes', type: 'gauge', labels: [] },
  eventLoopLagSeconds: { name: 'nodejs_eventloop_lag_p99_seconds', type: 'gauge', labels: [] },
  gcSeconds: { name: 'nodejs_gc_duration_seconds', type: 'histogram', labels: ['kind'] },
} as const satisfies Readonly<Record<string, Metric>>;

/** What an expression needs to know of a metric. */
export type Metric = Pick<MetricDefinition, 'name' | 'type' | 'labels'>;

/** A label of the metric; or the job that the scrape adds, by which deployments are told apart. */
type Label<M extends Metric> = M['labels'][number] | 'job';

/** Label by label, the values that it may have, or must not have. */
type Matchers<M extends Metric> = {
  readonly [Name in M['labels'][number]]?: readonly string[] | { readonly not: readonly string[] };
};

/** Writes a number of seconds as Prometheus does: `90s` is `1m30s`. */
export type Duration = (seconds: number) => string;

export const MINUTE = 60;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

const UNITS = [
  ['d', DAY * 1000],
  ['h', HOUR * 1000],
  ['m', MINUTE * 1000],
  ['s', 1000],
  ['ms', 1],
] as const;

/** Durations that are longer or shorter by a factor: a test does not wait for hours. Pure. */
export function durationsTimes(factor: number): Duration {
  return (seconds) => {
    const ms = Math.max(1, Math.round(seconds * 1000 * factor));
    const [unit, unitMs] = UNITS.find(([, one]) => ms % one === 0) ?? ['ms', 1];
    return `${ms / unitMs}${unit}`;
  };
}

/** The series of a metric with these labels. Of a histogram, how often it observed. */
export function series<const M extends Metric>(metric: M, matchers: Matchers<M> = {}): string {
  const name = metric.type === 'histogram' ? `${metric.name}_count` : metric.name;
  return name + selector(matchers);
}

/** A rate or an increase of a counter, summed up by labels. */
export function sumOf<const M extends Metric>(
  change: 'rate' | 'increase',
  metric: M,
  range: string,
  { by = [], where = {} }: { by?: readonly Label<M>[]; where?: Matchers<M> } = {},
): string {
  return `sum by (${list(by)}) (${change}(${series(metric, where)}[${range}]))`;
}

/** The highest value of a gauge by labels. */
export function maxOf<const M extends Metric>(metric: M, by: readonly Label<M>[]): string {
  return `max by (${list(by)}) (${series(metric)})`;
}

/** What a share of the observations stays below, in seconds. */
export function quantile<const M extends Metric>(
  share: number,
  metric: M,
  range: string,
  by: readonly Label<M>[],
): string {
  const buckets = `rate(${metric.name}_bucket[${range}])`;
  return `histogram_quantile(${share}, sum by (${['le', ...list(by).split(', ')].join(', ')}) (${buckets}))`;
}

/** Always by the job: one Prometheus may scrape a deployment for trials beside the one that serves. */
function list(by: readonly string[]): string {
  return [...new Set(['job', ...by])].join(', ');
}

function selector(
  matchers: Readonly<
    Record<string, readonly string[] | { readonly not: readonly string[] } | undefined>
  >,
): string {
  const texts = Object.entries(matchers).flatMap(([label, values]) => {
    if (values === undefined) return [];
    return 'not' in values
      ? `${label}!~"${values.not.join('|')}"`
      : `${label}=~"${values.join('|')}"`;
  });
  return texts.length === 0 ? '' : `{${texts.join(',')}}`;
}
