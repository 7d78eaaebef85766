import { FIGURES, type FigureName } from '../measure/figures.ts';
import { spreadOf, type Spread } from '../measure/statistics.ts';
import { ratioOf, type Row, type Table } from '../tables/table.ts';
import { barChartSvg, type Bar } from './barChart.ts';
import { figureText, numberText } from './figureText.ts';

/** A picture of a part of a table. */
export interface ChartOrder {
  /** The file's, without its ending. */
  readonly name: string;
  readonly title: string;
  readonly table: string;
  readonly figure: FigureName;
  /** The figure as a ratio; as it is where this is left out. */
  readonly against?: string;
  /** All, where none is named. */
  readonly cases?: readonly string[];
}

export const CHARTS: readonly ChartOrder[] = [
  {
    name: 'lookups',
    title: 'What the operator bills for one query',
    table: 'lookups',
    figure: 'lookupsPerQuery',
    cases: ['50 × date and three windows', '50 × the same number, window'],
  },
  {
    name: 'tls',
    title: 'CPU time a number, behind TLS',
    table: 'tls',
    figure: 'cpuMicrosPerNumber',
    against: 'ours, echo',
  },
  {
    name: 'network',
    title: 'How long a query takes behind TLS, 20 ms a round trip',
    table: 'network',
    figure: 'p50Ms',
  },
  {
    name: 'cost',
    title: 'CPU time a number, one field, on the plain wire',
    table: 'cost',
    figure: 'cpuMicrosPerNumber',
    against: 'raw undici',
    cases: ['1 × window', '100 × window', '1,000 × window'],
  },
  {
    name: 'fields',
    title: 'CPU time a number, more fields, on the plain wire',
    table: 'cost',
    figure: 'cpuMicrosPerNumber',
    against: 'ours',
    cases: ['1 × date and window', '1 × date and three windows', '100 × date and three windows'],
  },
  {
    name: 'latency',
    title: 'How long a query takes on the plain wire, 20 ms a hop',
    table: 'latency',
    figure: 'p50Ms',
    against: 'raw undici',
    cases: ['1 × window, 20 ms a hop', '100 × window, 20 ms a hop', '1,000 × window, 20 ms a hop'],
  },
  {
    name: 'consent',
    title: 'A consent already granted, 20 ms a hop',
    table: 'consent',
    figure: 'p50Ms',
    cases: ['1 × window, 20 ms a hop'],
  },
  {
    name: 'memory',
    title: 'Heap that a query of 1,000 numbers holds under way',
    table: 'memory',
    figure: 'heapBytesPerNumber',
  },
  {
    name: 'production',
    title: 'What production costs',
    table: 'production',
    figure: 'cpuMicrosPerNumber',
    against: 'ours',
  },
];

/** The picture, or `undefined` where nothing of it was measured. */
export function chartSvg(order: ChartOrder, tables: readonly Table[]): string | undefined {
  const { title, figure, against, cases } = order;
  const table = tables.find(({ name }) => name === order.table);
  if (table === undefined) return undefined;
  const groups = [...new Set(table.rows.map((row) => row.case))]
    .filter((name) => cases?.includes(name) ?? true)
    .map((name) => ({
      name,
      bars: table.rows
        .filter((row) => row.case === name)
        .flatMap((row) => barOf(order, table, row)),
    }));
  if (groups.length === 0) return undefined;
  const { heading } = FIGURES[figure];
  return barChartSvg({
    title,
    unit: `${heading}${against === undefined ? '' : `, against ${against}`}: median and quartiles`,
    groups,
    ...(against === undefined ? {} : { mark: 1 }),
  });
}

function barOf({ figure, against }: ChartOrder, table: Table, row: Row): Bar[] {
  const rounds = row.rounds[figure];
  const spread: Spread | undefined =
    against === undefined ? rounds && spreadOf(rounds) : ratioOf(table, row, { figure, against });
  if (spread === undefined) return [];
  const { median } = spread;
  const label = against === undefined ? figureText(figure, median) : numberText(median, 2);
  return [{ name: row.name, kind: kindOf(row.name), spread, label }];
}

function kindOf(name: string): Bar['kind'] {
  if (name.startsWith('ours')) return 'ours';
  return name.startsWith('raw undici') || name === 'the hops' ? 'limit' : 'other';
}
