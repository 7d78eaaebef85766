import { FIGURES, type FigureName } from '../measure/figures.ts';
import { ratioOf, type Row, type Table } from '../tables/table.ts';
import { barChartSvg, type Bar } from './barChart.ts';
import { numberText } from './figureText.ts';

/** A picture of a part of a table. */
export interface ChartOrder {
  /** The file's, without its ending. */
  readonly name: string;
  readonly title: string;
  readonly table: string;
  readonly figure: FigureName;
  /** The row whose figure is 1. */
  readonly against: string;
  /** All, where none is named. */
  readonly cases?: readonly string[];
}

export const CHARTS: readonly ChartOrder[] = [
  {
    name: 'tls',
    title: 'CPU time a number, behind TLS',
    table: 'tls',
    figure: 'cpuMicrosPerNumber',
    against: 'ours, echo',
  },
  {
    name: 'cost',
    title: 'CPU time a number, one field, on the plain wire',
    table: 'cost',
    figure: 'cpuMicrosPerNumber',
    against: 'raw undici',
    cases: ['1 × window', '100 × window', '1,000 × window'],
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
    unit: `${heading}, against ${against}: median and quartiles`,
    groups,
    mark: 1,
  });
}

function barOf({ figure, against }: ChartOrder, table: Table, row: Row): Bar[] {
  const spread = ratioOf(table, row, { figure, against });
  if (spread === undefined) return [];
  const label = numberText(spread.median, 2);
  return [{ name: row.name, kind: kindOf(row.name), spread, label }];
}

function kindOf(name: string): Bar['kind'] {
  if (name.startsWith('ours')) return 'ours';
  return name.startsWith('raw undici') || name === 'the hops' ? 'limit' : 'other';
}
