import type { MetricDefinition } from './metricDefinitions.ts';

class Series {
  readonly labels: readonly string[];
  /** For a histogram: the sum of its observations. */
  value = 0;
  /** For a histogram: the count of each bucket, without smaller ones; the last bucket has no bound. */
  readonly counts: number[] = [];
  readonly #below = new Map<string, Series>();

  constructor(labels: readonly string[]) {
    this.labels = labels;
  }

  below(name: string, value: string): Series {
    let series = this.#below.get(value);
    if (series === undefined) {
      const text = value.replace(/[\\"]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`);
      series = new Series([...this.labels, `${name}="${text}"`]);
      this.#below.set(value, series);
    }
    return series;
  }

  withLabels(count: number): Series[] {
    if (this.labels.length === count) return [this];
    return [...this.#below.values()].flatMap((series) => series.withLabels(count));
  }
}

type Labels<Label extends string> = Readonly<Record<Label, string>>;

/**
 * The values of one metric, found label by label, in 0.2 µs: Prometheus' package for Node makes a text of all labels
 * for each value, which takes five times as long.
 */
export class Meter<Label extends string> {
  readonly #definition: MetricDefinition<Label>;
  readonly #names: readonly Label[];
  #root = new Series([]);

  constructor(definition: MetricDefinition<Label>) {
    this.#definition = definition;
    this.#names = definition.labels;
  }

  add(labels: Labels<Label>, by = 1): void {
    this.#at(labels).value += by;
  }

  set(labels: Labels<Label>, value: number): void {
    this.#at(labels).value = value;
  }

  observe(labels: Labels<Label>, value: number): void {
    const { buckets = [] } = this.#definition;
    let bucket = 0;
    while (bucket < buckets.length && value > (buckets[bucket] ?? Infinity)) bucket += 1;
    const series = this.#at(labels);
    series.value += value;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
  }

  reset(): void {
    this.#root = new Series([]);
  }

  /** In Prometheus' text format, "Comments, help text, and type information" and the section after it. */
  text(): string {
    const { name, help, buckets } = this.#definition;
    const scalar = name.endsWith('_total') ? 'counter' : 'gauge';
    const type = buckets === undefined ? scalar : 'histogram';
    const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
    for (const { labels, value, counts } of this.#root.withLabels(this.#names.length)) {
      if (buckets === undefined) {
        lines.push(line(name, labels, value));
        continue;
      }
      let count = 0;
      for (const [index, bound] of [...buckets, '+Inf'].entries()) {
        count += counts[index] ?? 0;
        lines.push(line(`${name}_bucket`, [...labels, `le="${bound}"`], count));
      }
      lines.push(line(`${name}_sum`, labels, value), line(`${name}_count`, labels, count));
    }
    return `${lines.join('\n')}\n`;
  }

  #at(labels: Labels<Label>): Series {
    let series = this.#root;
    for (const name of this.#names) series = series.below(name, labels[name]);
    return series;
  }
}

function line(name: string, labels: readonly string[], value: number): string {
  return `${name}${labels.length === 0 ? '' : `{${labels.join(',')}}`} ${value}`;
}
